# redis-roar in the Redis or Valkey image of your choice:
#
#   docker build -t redis-roar .                                             # with the official image redis:8
#   docker build -t valkey-roar --build-arg SERVER=valkey/valkey:9 .
#
# SERVER may be any image of Redis from 6.2 on or of Valkey, based on Debian or on Alpine: the module needs no more than their C libraries
# have in common.
ARG SERVER=redis:8

FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates make nodejs npm
WORKDIR /redis-roar

# A layer of its own: what the build needs changes less often than the sources.
COPY package.json package-lock.json ./
COPY client/package.json client/
COPY cli/package.json cli/
COPY tools/setup tools/
RUN tools/setup

COPY . .
RUN make build

FROM ${SERVER}
# Not in the directory from which Redis 8's image loads all modules: this one is loaded by the arguments below.
COPY --from=build /redis-roar/build/redis-roar.so /usr/local/lib/redis-roar.so

# The user `redis` or `valkey` of these images, which owns /data.
USER 999

# With a password, set REDISCLI_AUTH in the container's environment.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD [ "$("$(command -v redis-cli || command -v valkey-cli)" ping)" = PONG ]

# The images' entrypoint starts the server with these arguments. Arguments of `docker run` replace them: repeat --loadmodule there.
CMD ["--loadmodule", "/usr/local/lib/redis-roar.so"]
