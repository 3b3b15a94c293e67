FROM node:22.23.2-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9 AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The client package is for other services: no link to it belongs in the image.
RUN npm ci --workspaces=false
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
COPY packages ./packages
COPY scripts/build.mjs scripts/minify.mjs scripts/build-id.mjs ./scripts/
RUN npm run build && npm prune --omit=dev --workspaces=false

FROM node:22.23.2-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9
# Temporal's client library is native code and trusts the system's certificates, which the slim image lacks.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY deploy/healthcheck.mjs ./
# So that `docker compose exec worker fiscalflow …` works.
RUN chmod +x dist/src/main.js \
  && ln -s /app/dist/src/main.js /usr/local/bin/fiscalflow \
  && mkdir /data && chown node:node /data
USER node
# An embedded ledger, where one is used, belongs on a volume.
ENV FISCALFLOW_HOME=/data
# A container is reached from outside of it, or not at all. Which of its ports are published is the host's decision.
ENV CALLBACK_HOST=0.0.0.0 FISCALFLOW_CODEC_HOST=0.0.0.0 MONITORING_HOST=0.0.0.0
# Without a port a worker could not be asked whether it is alive.
ENV HEALTH_PORT=8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "/app/healthcheck.mjs"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["worker"]
