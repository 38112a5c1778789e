/** The participants' SDK for the JVM: take part in a banditmt shared task with any machine translation system. */
module org.banditmt.client {
    requires java.net.http;

    exports org.banditmt.client;
}
