# The service on one machine: banditmt without extras, so neither torch nor the learners. Built from the repository:
#   docker build --tag banditmt . && docker run --publish 8000:8000 --volume banditmt:/data banditmt
# Our checks install these wheels in an empty environment, but build no image: this file itself is untested.
# It prints the first API key once. Data stays in the volume. Keys travel unencrypted: put a TLS proxy in front of it.
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels ./client_sdk .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
COPY requirements.lock /wheels/
RUN pip install --no-cache-dir --constraint /wheels/requirements.lock /wheels/*.whl && rm -r /wheels \
    && useradd --create-home banditmt && install --directory --owner banditmt /data
USER banditmt
WORKDIR /data
ENV BANDITMT_STORE=sqlite:/data/store.sqlite
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=3)"]
ENTRYPOINT ["banditmt"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
