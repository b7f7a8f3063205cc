/** A project that may send from example.test, on a real database, with a fake outbound. */
import type { TestContext } from 'node:test'
import type { Core } from '../../../../src/core/core.ts'
import {
  type AcceptedMessage,
  acceptOnce,
} from '../../../../src/features/mail/messages/accept/accept-message.ts'
import type { SendRequest } from '../../../../src/features/mail/messages/accept/plan.ts'
import type { AttemptOutcome } from '../../../../src/outbound/attempt.ts'
import type { DeliveryResult, DeliveryTask } from '../../../../src/outbound/delivery.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { type Project, projects } from '../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { contents, type Email, emails } from '../../../../src/store/schema/messages.ts'
import {
  address,
  openTestCore,
  refuseFetch,
  START,
  type TestCore,
  type TestCoreOptions,
} from '../../../core.ts'

export type Sender = {
  core: TestCore
  project: Project
  /** The current time; tests may change it. */
  clock: { now: number }
  /** The tasks that were handed to outbound, in order. */
  tasks: DeliveryTask[]
  /** The remaining capacity of each site; 1,000 unless a test sets it. */
  capacity: Map<string, number>
  /** Paused sites: until when (epoch ms) and why. */
  pauses: Map<string, { until: number; reason: string }>
  /** Restricted sites: the time of the attempt that showed it (epoch ms) and why. */
  restrictions: Map<string, { triedAt: number; reason: string }>
  send(request?: Partial<SendRequest>, options?: SendOptions): Promise<Accepted>
  email(id: string): Promise<Email>
  eventNames(): Promise<string[]>
  counts(): Promise<{ contacts: number; contents: number; emails: number; events: number }>
}

/** The `data` of a response to `POST /v1/send`. */
type Accepted = ReturnType<typeof toResponseData>

type SendOptions = { project?: Project; key?: string }

export async function openSender(
  t: TestContext,
  options: Pick<TestCoreOptions, 'watch'> = {},
): Promise<Sender> {
  const tasks: DeliveryTask[] = []
  const capacity = new Map<string, number>()
  const pauses: Sender['pauses'] = new Map()
  const restrictions: Sender['restrictions'] = new Map()
  const outbound = {
    siteOf: (domain: string) => domain,
    knownSiteOf: () => undefined,
    knownSites: () => [],
    capacity: (site: string) => capacity.get(site) ?? 1_000,
    projectCapacity: () => 1_000,
    lacksConnection: () => false,
    pauseOf: (site: string) => pauses.get(site) ?? null,
    restrictionOf: (site: string) => restrictions.get(site) ?? null,
    deliver: (batch: DeliveryTask[]) => void tasks.push(...batch),
    recall: () => undefined,
    withdraw: () => undefined,
    hasMemoryFor: () => true,
  } as unknown as Core['outbound']
  const parts = { outbound, publicFetch: refuseFetch }
  const core = await openTestCore(t, { settings, parts, ...options })
  const { store, clock } = core
  const project = await addSenderProject(core, 'Shop', 'example.test')
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
        toResponseData,
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
export async function addSenderProject(core: Core, name: string, domain: string): Promise<Project> {
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

const settings = {
  PILLARBOX_BASE_URL: 'https://mail.example.test',
  PILLARBOX_DELIVERY__MODE: 'direct',
  PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
  PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["1m", "5m", "10m"]',
  PILLARBOX_INBOUND__MAX_BYTES_PER_PROJECT: '0',
  PILLARBOX_RETENTION__SANDBOX_MESSAGES: '3',
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

/** Makes the result of outbound for a task. */
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

function toResponseData({ emails, at }: AcceptedMessage) {
  return {
    emails: emails.map(({ id, contactId, recipient }) => ({
      contact: { id: contactId, email: recipient },
      email: id,
    })),
    timestamp: new Date(at).toISOString(),
  }
}
