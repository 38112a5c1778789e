/** What participants put on their module path to play a banditmt shared task from the JVM. */
module org.banditmt.client {
    requires java.net.http;

    exports org.banditmt.client;
}
