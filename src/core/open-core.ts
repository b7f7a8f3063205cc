/**
 * Opens the parts that all commands and the server share: data folder, secret, database, resolver.
 */
import path from 'node:path'
import { type Now, now as systemNow } from '../base/clock.ts'
import { type Counters, createCounters } from '../base/counters.ts'
import { createHealth } from '../base/health.ts'
import type { Log } from '../base/log.ts'
import { nativeBindingPath } from '../config/addon.ts'
import { createCertificates } from '../config/certificates/watch.ts'
import type { Config } from '../config/config.ts'
import { createKeyring } from '../config/keyring.ts'
import { loadSecret, prepareDataDir } from '../config/secret.ts'
import { refuseUnfinishedRestore } from '../config/unfinished-restore.ts'
import { createDirectory } from '../features/ground/directory.ts'
import type { InboundNotice } from '../features/ground/inbound-notice.ts'
import { createListTotals } from '../features/ground/list-totals.ts'
import type { WebhookNotice } from '../features/ground/webhook-notifier.ts'
import { createAcceptQueue } from '../features/mail/messages/accept/accept-queue.ts'
import { sealWaiting } from '../features/mail/messages/delivery/sealed-snapshots.ts'
import type { QueueNotice } from '../features/mail/messages/queue/notifier.ts'
import { createChallenges } from '../features/operation/acme/challenges.ts'
import { checkSecret } from '../features/operation/seals/seals.ts'
import type { WorkflowNotice } from '../features/outreach/workflows/notifier.ts'
import { createEventQueue } from '../features/people/contacts/events/event-queue.ts'
import { createContactQueue } from '../features/people/contacts/write/contact-queue.ts'
import { createVerifier } from '../features/people/verification/verifier.ts'
import { keyOlderWishes, loadAddressKey } from '../features/people/wishes/address-digests.ts'
import { createLastUsed } from '../features/tenancy/accounts/callers/last-used.ts'
import { createLoginQueue } from '../features/tenancy/accounts/login/queue.ts'
import { createLoginThrottle } from '../features/tenancy/accounts/login/throttle.ts'
import { createIdentityProviders } from '../features/tenancy/accounts/oauth/providers.ts'
import { enqueuePlatformMail } from '../features/tenancy/accounts/platform-mail/enqueue.ts'
import { createSessionTokens } from '../features/tenancy/accounts/sessions/token.ts'
import { createStripe } from '../features/tenancy/billing/stripe.ts'
import { createResolver } from '../outbound/dns/resolver.ts'
import { createDnsWatch } from '../outbound/dns/watch.ts'
import { createPublicFetch, createWebhookClient } from '../outbound/http/clients.ts'
import { unwatchedDisk, watchDisk } from '../store/files/disk.ts'
import { lookForLog } from '../store/files/log-mark.ts'
import { createInlineThreads } from '../store/read/thread.ts'
import { openStore, type StoreOptions } from '../store/store.ts'
import { createNotifier } from '../work/loop.ts'
import { createSharedRuns } from '../work/shared-runs.ts'
import { DUTIES } from './areas.ts'
import type { CommandCore } from './core.ts'

export type OpenCore = CommandCore & { close(): Promise<void> }

export type OpenOptions = {
  log: Log
  /** Whether to watch for changes by other processes. */
  watch?: boolean
  /** Existing counters; new ones if absent. */
  counters?: Counters | undefined
  now?: Now
  /** The timeout of a DNS query and the number of its tries; the values of production if absent. */
  dnsTimeoutMs?: number
  dnsTries?: number
  certificatePollMs?: number | undefined
  /** Called while a large database is migrated. */
  onMigration?: StoreOptions['onMigration'] | undefined
  /** As in `StoreOptions`. If this and `watch` are absent, scans run in the calling thread. */
  createThread?: StoreOptions['createThread']
  connect?: StoreOptions['connect']
}

/**
 * Opens the core without delivery. Commands open it beside a running server, which `watch`es for
 * their changes.
 * @throws AppError DATABASE_ERROR; ConfigError when the secret is not the database's; Error when the
 * data folder cannot be used
 */
export async function openCore(config: Config, options: OpenOptions): Promise<OpenCore> {
  const { log, watch: isWatching = false, counters = createCounters(), now = systemNow } = options
  const { dnsTimeoutMs: timeoutMs, dnsTries: tries, certificatePollMs } = options
  const { createThread = isWatching ? undefined : createInlineThreads() } = options
  await prepareDataDir(config)
  await refuseUnfinishedRestore(config)
  const keyring = createKeyring(await loadSecret(config), config.secretPrevious)
  const health = createHealth()
  const nativeBinding = nativeBindingPath(config.dataDir)
  lookForLog(config.database.file, nativeBinding)
  const store = await openStore({
    path: config.database.file,
    nativeBinding,
    log,
    health,
    counters,
    watch: isWatching,
    onMigration: options.onMigration,
    addressDigest: keyring.addressDigest,
    connect: options.connect,
    ...(createThread && { createThread }),
  })
  try {
    await checkSecret({ store, keyring, duties: DUTIES })
    await sealWaiting({ store, keyring })
    await loadAddressKey({ store, keyring, now })
    await keyOlderWishes({ store })
  } catch (error) {
    await store.close()
    throw error
  }
  const directory = createDirectory({ store, keyring })
  const { dataDir, dns } = config
  const watch = createDnsWatch({ dns, now, log, health })
  const resolver = createResolver({ servers: dns.servers, now, watch, timeoutMs, tries })
  const verifier = createVerifier({ dnsServers: dns.servers, dataDir, now, log, watch, timeoutMs })
  const disk = isWatching
    ? await watchDisk({ ...diskOf(config), health, log, onCommit: store.onCommit })
    : unwatchedDisk
  const certificates = createCertificates({ config, health, log, now }, certificatePollMs)
  const figures = { health, counters, certificates, disk }
  const sessionTokens = createSessionTokens({ keyring, now })
  const identityProviders = createIdentityProviders({ config, now, resolver })
  const lastUsed = createLastUsed({ store, now, log })
  const stripe = config.billing === null ? null : createStripe(config.billing, { now, resolver })
  const close = async () => {
    await lastUsed.stop()
    stripe?.close()
    identityProviders.stop()
    certificates.stop()
    disk.stop()
    watch.stop()
    verifier.stop()
    resolver.stop()
    webhookClient.closeIdle()
    // A server may have been killed meanwhile; then the close may remove its log.
    try {
      if (!isWatching) lookForLog(config.database.file, nativeBinding)
    } finally {
      await store.close()
    }
  }
  const publicFetch = createPublicFetch({ resolver })
  const webhookClient = createWebhookClient({ resolver, config })
  const queueNotifier = createNotifier<QueueNotice>()
  const notifiers = {
    queueNotifier,
    workflowNotifier: createNotifier<WorkflowNotice>(),
    inboundNotifier: createNotifier<InboundNotice>(),
    jobNotifier: createNotifier(),
    jobCancels: createNotifier<string>(),
    campaignNotifier: createNotifier(),
    webhookNotifier: createNotifier<WebhookNotice>(),
  }
  const shared = {
    ...notifiers,
    ...figures,
    sessionTokens,
    identityProviders,
    lastUsed,
    stripe,
    loginThrottle: createLoginThrottle(now),
    loginQueue: createLoginQueue(),
    reportDomainLoss: mailDomainLoss,
    reportUsage: usageMailer(notifiers),
    reservedKeys: new Map(),
    listTotals: createListTotals({ now }),
    sharedRuns: createSharedRuns(),
    acmeChallenges: createChallenges(),
  }
  const parts = {
    duties: DUTIES,
    config,
    keyring,
    store,
    directory,
    resolver,
    verifier,
    publicFetch,
    webhookClient,
  }
  const queues = {
    acceptQueue: createAcceptQueue({ ...parts, ...shared, log }),
    contactQueue: createContactQueue(store),
    eventQueue: createEventQueue(store),
  }
  return { ...parts, ...shared, ...queues, now, log, close }
}

const mailDomainLoss: CommandCore['reportDomainLoss'] = (tx, { projectId, domain }, at) =>
  enqueuePlatformMail(tx, { kind: 'domain-lost', projectId, domain }, at)

function usageMailer({
  jobNotifier,
}: Pick<CommandCore, 'jobNotifier'>): CommandCore['reportUsage'] {
  return async (tx, notice, at) => {
    await enqueuePlatformMail(tx, { kind: 'usage-limit', ...notice }, at)
    tx.afterCommit(() => jobNotifier.notify())
  }
}

function diskOf({ database, limits }: Config) {
  return { folder: path.dirname(database.file), minFreeBytes: limits.minFreeBytes }
}
