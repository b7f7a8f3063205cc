/** Opens what every command and the server stand on: the data folder, its secret, the database. */
import { now } from '../clock.ts'
import { nativeBindingPath } from '../config/assets.ts'
import type { Config } from '../config/config.ts'
import { createKeyring } from '../config/keyring.ts'
import { loadSecret, prepareDataDir } from '../config/secret.ts'
import { createCounters } from '../counters.ts'
import { createHealth } from '../health.ts'
import type { Log } from '../log.ts'
import { createDnsWatch } from '../outbound/dns-watch.ts'
import { createPublicFetch } from '../outbound/public-fetch.ts'
import { createResolver } from '../outbound/resolver.ts'
import { openStore } from '../store/store.ts'
import { createDirectory } from './accounts/directory.ts'
import { createBell } from './bell.ts'
import type { CommandCore } from './core.ts'
import { checkSecret } from './domains/secret-check.ts'
import { createQueueBell } from './messages/bell.ts'
import { createSharedRuns } from './shared-runs.ts'
import { createVerifier } from './verification/verifier.ts'

export type OpenCore = CommandCore & { close(): Promise<void> }

/**
 * Everything but delivery; commands work beside a running server, which `watch`es for them.
 * @throws AppError DATABASE_ERROR, ConfigError for a secret that is not this database's, Error when the data folder cannot be used
 */
export async function openCore(
  config: Config,
  { log, watch: isWatching = false }: { log: Log; watch?: boolean },
): Promise<OpenCore> {
  await prepareDataDir(config)
  const keyring = createKeyring(await loadSecret(config), config.secretPrevious)
  const store = await openStore({
    path: config.database.file,
    nativeBinding: nativeBindingPath(config.dataDir),
    log,
    watch: isWatching,
  })
  await checkSecret({ store, keyring }).catch(async (error) => {
    await store.close()
    throw error
  })
  const directory = createDirectory({ store, keyring })
  const figures = { health: createHealth(), counters: createCounters() }
  const { dataDir, dns } = config
  const watch = createDnsWatch({ dns, now, log, health: figures.health })
  const resolver = createResolver({ servers: dns.servers, now, watch })
  const verifier = createVerifier({ dnsServers: dns.servers, dataDir, now, log, watch })
  const close = async () => {
    watch.stop()
    verifier.stop()
    resolver.stop()
    await store.close()
  }
  const publicFetch = createPublicFetch({ resolver })
  const bell = createQueueBell()
  const bells = { bell, inbox: createBell(), jobBell: createBell() }
  const shared = { ...bells, ...figures, claims: new Map(), sharedRuns: createSharedRuns() }
  const parts = { config, keyring, store, directory, resolver, verifier, publicFetch }
  return { ...parts, ...shared, now, log, close }
}
