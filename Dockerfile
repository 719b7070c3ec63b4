# syntax=docker/dockerfile:1
# Earshot on the CPU. Two stages: one with a compiler that builds a virtual environment, one that
# runs it. PyPI's torch for x86 carries CUDA libraries of several GB; so torch comes from the index of
# its CPU builds. `--build-arg TORCH_INDEX=` takes the index that pip knows.
FROM python:3.11-slim-bookworm AS build

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/earshot
ENV PATH=/opt/earshot/bin:$PATH

# The dependencies change less often than the code: a layer of their own.
WORKDIR /src
COPY constraints.txt ./
RUN pip install -c constraints.txt ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} \
    torch scikit-build-core nanobind cmake ninja
COPY . .
RUN pip install -c constraints.txt --no-build-isolation .

FROM python:3.11-slim-bookworm

RUN useradd --create-home --uid 10001 earshot
COPY --from=build /opt/earshot /opt/earshot
ENV PATH=/opt/earshot/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/earshot
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
# exec form: SIGTERM reaches the server, which finishes every live stream before it ends.
ENTRYPOINT ["earshot"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
