/** A project that may send from example.test, over a real database, and an outbound that obeys. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { createKeyring } from '../../../src/config/keyring.ts'
import { createCounters } from '../../../src/counters.ts'
import type { Core } from '../../../src/features/core.ts'
import { createDirectory } from '../../../src/features/directory.ts'
import {
  type AcceptedMessage,
  acceptOnce,
} from '../../../src/features/messages/accept/accept-message.ts'
import type { SendRequest } from '../../../src/features/messages/accept/plan.ts'
import { createFuse } from '../../../src/features/messages/outcome/fuse.ts'
import { createKnownDomains } from '../../../src/features/messages/outcome/known-domains.ts'
import { createQueueNotifier } from '../../../src/features/messages/queue/notifier.ts'
import { createThrottle } from '../../../src/features/messages/queue/throttle.ts'
import { createNotifier } from '../../../src/features/notifier.ts'
import { createSharedRuns } from '../../../src/features/shared-runs.ts'
import { createHealth } from '../../../src/health.ts'
import { silentLog } from '../../../src/log.ts'
import { parseAddress } from '../../../src/mail/address/address.ts'
import type { AttemptOutcome } from '../../../src/outbound/attempt.ts'
import type { DeliveryResult, DeliveryTask } from '../../../src/outbound/delivery.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { roomyDisk } from '../../../src/store/files/disk.ts'
import { newId } from '../../../src/store/ids.ts'
import { type Project, projects } from '../../../src/store/schema/accounts.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { domains } from '../../../src/store/schema/domains.ts'
import { events } from '../../../src/store/schema/events.ts'
import { contents, type Email, emails } from '../../../src/store/schema/messages.ts'
import { openStore } from '../../../src/store/store.ts'

export const address = (text: string) => {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new TypeError(text)
  return parsed
}

export const START = Date.parse('2026-11-21T12:00:00.000Z')

export type Sender = {
  core: Core
  project: Project
  /** What time it is; tests may change it. */
  clock: { now: number }
  /** What was handed to outbound, in order. */
  tasks: DeliveryTask[]
  /** How many more messages a site takes; 1,000 unless a test says otherwise. */
  capacity: Map<string, number>
  /** Sites that take nothing, until when (epoch ms) and why. */
  pauses: Map<string, { until: number; reason: string }>
  /** Sites that were found to take nothing or little, when (epoch ms) and why. */
  restrictions: Map<string, { triedAt: number; reason: string }>
  send(request?: Partial<SendRequest>, options?: SendOptions): Promise<Accepted>
  email(id: string): Promise<Email>
  eventNames(): Promise<string[]>
  counts(): Promise<{ contacts: number; contents: number; emails: number; events: number }>
}

/** The answer of `POST /v1/send`. */
type Accepted = ReturnType<typeof toAnswer>

type SendOptions = { project?: Project; key?: string }

export async function openSender(t: TestContext): Promise<Sender> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  const store = await openStore({ path: path.join(folder, 'test.db'), log: silentLog() })
  t.after(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  const keyring = createKeyring('a secret of the tests, long enough')
  const clock = { now: START }
  const tasks: DeliveryTask[] = []
  const capacity = new Map<string, number>()
  const config = configuration as unknown as Core['config']
  const figures = { health: createHealth(), counters: createCounters() }
  const base = { config, store, now: () => clock.now, log: silentLog(), ...figures }
  const pauses: Sender['pauses'] = new Map()
  const restrictions: Sender['restrictions'] = new Map()
  const core: Core = {
    ...base,
    keyring,
    directory: createDirectory({ store, keyring }),
    resolver: {} as Core['resolver'],
    verifier: {} as Core['verifier'],
    publicFetch: async () => ({ ok: false, isRefused: true, error: 'nobody is asked here' }),
    outbound: {
      siteOf: (domain: string) => domain,
      capacity: (site: string) => capacity.get(site) ?? 1_000,
      projectCapacity: () => 1_000,
      pauseOf: (site: string) => pauses.get(site) ?? null,
      restrictionOf: (site: string) => restrictions.get(site) ?? null,
      deliver: (batch: DeliveryTask[]) => void tasks.push(...batch),
      recall: () => undefined,
      hasContentRoom: () => true,
    } as unknown as Core['outbound'],
    claims: new Map(),
    queueNotifier: createQueueNotifier(),
    inboundNotifier: createNotifier(),
    jobNotifier: createNotifier(),
    sharedRuns: createSharedRuns(),
    certificates: {} as Core['certificates'],
    disk: { ...roomyDisk },
    fuse: createFuse(base),
    knownDomains: createKnownDomains(),
    hits: {} as Core['hits'],
    throttle: createThrottle(0, () => clock.now),
  }
  const project = await addProject(core, 'Shop', 'example.test')
  const send: Sender['send'] = (request = {}, { project: as = project, key } = {}) =>
    acceptOnce(
      core,
      {
        project: as,
        request: {
          to: [{ address: address('ada@dest.test'), name: null }],
          from: { address: address('shop@example.test'), name: null },
          subject: 'Hello',
          body: '<p>Hello</p>',
          ...request,
        },
      },
      {
        idempotency: key === undefined ? undefined : { key, method: 'POST', path: '/v1/send' },
        toAnswer,
      },
    )
  return {
    core,
    project,
    clock,
    tasks,
    capacity,
    pauses,
    restrictions,
    send,
    email: async (id) => {
      const row = await store.read.select().from(emails).where(eq(emails.id, id)).get()
      if (row === undefined) throw new Error(`no email ${id}`)
      return row
    },
    eventNames: async () => {
      const rows = await store.read.select().from(events).orderBy(events.seq).all()
      return rows.map(({ name }) => name)
    },
    counts: async () => ({
      contacts: await store.read.$count(contacts),
      contents: await store.read.$count(contents),
      emails: await store.read.$count(emails),
      events: await store.read.$count(events),
    }),
  }
}

/** A project with one verified sender domain. */
export async function addProject(core: Core, name: string, domain: string): Promise<Project> {
  const at = core.now()
  const sealed = core.keyring.seal('a private key')
  const row = {
    id: newId(),
    name,
    publicKey: `pk_${name}`,
    secretDigest: name,
    secretHint: 'abcd',
    createdAt: at,
    updatedAt: at,
  }
  await core.store.write(async (tx) => {
    await tx.insert(projects).values(row)
    await tx.insert(domains).values({
      id: newId(),
      projectId: row.id,
      domain,
      isVerified: true,
      rsaSelector: 'r',
      rsaPrivateKey: sealed,
      rsaPublicKey: '',
      ed25519Selector: 'e',
      ed25519PrivateKey: sealed,
      ed25519PublicKey: '',
      createdAt: at,
      updatedAt: at,
    })
  })
  const project = await core.directory.findProject(row.id)
  if (project === undefined) throw new Error('the project was not written')
  return project
}

const configuration = {
  baseUrl: 'https://mail.example.test',
  delivery: {
    mode: 'direct',
    hostname: 'mail.example.test',
    retrySchedule: [60_000, 300_000, 600_000],
    fusePerMinute: 50,
    giveUpAfter: { transactional: 86_400_000, workflow: 86_400_000, campaign: 259_200_000 },
    returnPathDomain: 'bounce.mail.example.test',
  },
  inbound: { listen: [], maxBytesPerProject: 0 },
  limits: { idempotencyHours: 24, emailsPerSecond: 0 },
  retention: { bodyDays: 90, requestLogDays: 30, sandboxMessages: 3 },
}

const delivered: AttemptOutcome = {
  result: 'delivered',
  verdict: null,
  host: 'mx.dest.test',
  address: '192.0.2.1',
  tls: null,
  reply: { code: 250, enhancedCode: '2.0.0', text: 'Ok' },
  error: null,
  steps: [{ step: 'message', at: 0, durationMs: 3 }],
  durationMs: 12,
  isMaybeDelivered: false,
}

export type OutcomeKind = 'delivered' | 'relayed' | 'hard' | 'bounced' | 'deferred' | 'failed'

/** What outbound would report of a task. */
export function attempted(
  task: DeliveryTask,
  kind: OutcomeKind,
  change: Partial<AttemptOutcome> = {},
): Extract<DeliveryResult, { kind: 'attempted' }> {
  return {
    emailId: task.emailId,
    kind: 'attempted',
    site: task.domain,
    subject: 'rendered',
    faults: [],
    startedAt: START,
    outcome: { ...outcomeOf(kind), ...change },
  }
}

function outcomeOf(kind: OutcomeKind): AttemptOutcome {
  if (kind === 'delivered') return delivered
  if (kind === 'relayed') {
    const reply = { code: 250, enhancedCode: '2.0.0', text: 'Ok: queued as 4F2C91AB' }
    return { ...delivered, result: 'relayed', reply }
  }
  const verdict = {
    isFinal: kind !== 'deferred',
    class: kind === 'hard' ? 'hard' : 'unknown',
    reason: kind === 'hard' ? 'userunknown' : 'undetermined',
    isHard: kind === 'hard',
    isStrike: false,
    retryAfterMs: null,
    site: 'none',
    countsAsFailure: true,
  } as AttemptOutcome['verdict']
  const code = kind === 'deferred' ? 451 : 550
  const text = kind === 'hard' ? 'No such user' : 'Not now'
  const result = kind === 'hard' ? 'bounced' : kind
  return { ...delivered, result, verdict, reply: { code, enhancedCode: null, text } }
}

function toAnswer({ emails, at }: AcceptedMessage) {
  return {
    emails: emails.map(({ id, contactId, recipient }) => ({
      contact: { id: contactId, email: recipient },
      email: id,
    })),
    timestamp: new Date(at).toISOString(),
  }
}
