import org.banditmt.client.Client;
import org.banditmt.client.Run;
import org.banditmt.client.Sentence;

/** The smallest participant: submits the source sentence itself. Needs BANDITMT_URL and BANDITMT_API_KEY. */
class CopySource {
    public static void main(String[] arguments) {
        try (Client client = new Client()) {
            Run run = client.openRun("mock", "copy-source");
            for (Sentence sentence : run) {
                double score = run.submit(sentence.source());
                System.out.printf("%d\t%.4f\t%s%n", sentence.index(), score, sentence.source());
            }
            System.out.printf("mean reward %.4f%n", run.progress().cumulativeReward() / run.total());
        }
    }
}
