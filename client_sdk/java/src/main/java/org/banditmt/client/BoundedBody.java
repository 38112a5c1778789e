package org.banditmt.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** The body of a response, read no further than the largest of a banditmt service. */
final class BoundedBody implements BodySubscriber<byte[]> {
    static final int MAX_BODY_BYTES = 6 * 1024 * 1024; // AWS Lambda, on which the service runs, returns no more

    /** The body is larger than {@code MAX_BODY_BYTES}. */
    @SuppressWarnings("serial")
    static final class OversizedException extends IOException {
        OversizedException() {
            super(String.format(Locale.ROOT, "the response is larger than %,d bytes", MAX_BODY_BYTES));
        }
    }

    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private Flow.Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            if (body.isDone()) {
                return;
            }
            if (received.size() + buffer.remaining() > MAX_BODY_BYTES) {
                subscription.cancel();
                body.completeExceptionally(new OversizedException());
                return;
            }
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            received.write(bytes, 0, bytes.length);
        }
    }

    @Override
    public void onError(Throwable failure) {
        body.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        body.complete(received.toByteArray());
    }
}
