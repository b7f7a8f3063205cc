/** Makes what an example of the API documentation needs, and what no operation can make. */
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts'
import { createSchedule } from '../../src/core/areas.ts'
import { appendEvents } from '../../src/features/ground/events/append.ts'
import { monthOf } from '../../src/features/ground/usage/month.ts'
import { addHourCounts } from '../../src/features/insight/reputation/follow-events.ts'
import { listDomains } from '../../src/features/mail/domains/domains.ts'
import { createSegment } from '../../src/features/people/segments/edit-segment.ts'
import { inviteMember } from '../../src/features/tenancy/accounts/invitations/invite.ts'
import { insertToken } from '../../src/features/tenancy/accounts/links/link-tokens.ts'
import { endSessions } from '../../src/features/tenancy/accounts/sessions/sessions.ts'
import { makeSetupLink } from '../../src/features/tenancy/accounts/setup/link.ts'
import { createUser } from '../../src/features/tenancy/accounts/users/users.ts'
import type { DnsAnswer, MxRecord } from '../../src/outbound/dns/answer.ts'
import type { Resolver } from '../../src/outbound/dns/resolver.ts'
import { and, eq, sql } from '../../src/store/drizzle.ts'
import { accountTokens, memberships, projects, users } from '../../src/store/schema/accounts.ts'
import { deletedEvents } from '../../src/store/schema/analytics.ts'
import { usageMonths } from '../../src/store/schema/billing.ts'
import { campaignProgress, campaigns } from '../../src/store/schema/campaigns.ts'
import { jobs } from '../../src/store/schema/jobs.ts'
import type { TokenPurpose } from '../../src/store/schema/words.ts'
import { startJobs } from '../../src/work/jobs/jobs.ts'
import { addProject, type TestCore, trustDomain } from '../core.ts'
import { createSns, TOPIC } from '../fakes/sns.ts'
import { addRequest } from '../features/ground/requests/add-request.ts'
import { countEvents, countLinks, countMail } from '../features/insight/analytics/add-counts.ts'
import { addCampaign as addRunningCampaign } from '../features/outreach/campaigns/add-campaign.ts'
import { addCampaign } from '../features/outreach/campaigns/sending/campaign.ts'
import { addDelivery } from '../features/outreach/webhooks/add-delivery.ts'
import { addWorkflow } from '../features/outreach/workflows/add-workflow.ts'
import { pageToken } from '../features/people/contacts/add-recipient.ts'
import { codeOf } from '../features/tenancy/accounts/totp-code.ts'
import { addUser, logIn } from '../session.ts'
import { findExample } from './listed-routes.ts'

type Stage = {
  core: TestCore
  projectId: string
  dns: ReturnType<typeof createExampleDns>
  real(example: string): string
}
export type ExampleStep = {
  /** `POST /v1/send` */
  name: string
  /**
   * The tables whose rows differ after the call. By default none if the operation only reads, `jobs` if its answer
   * has the id of a job, and else the table with the first name of the path.
   */
  effects?: readonly string[]
  headers?: Record<string, string>
  /** Headers that depend on the body. */
  sign?(stage: Stage, body: string): Record<string, string>
  /** The value of the header Cookie, in place of a session of the project's owner. */
  cookie?(stage: Stage): Promise<string>
  /** Runs before the request. Returns parameters that only this server can make, if any. */
  prepare?(stage: Stage): Promise<unknown>
  /** Fields of the request that depend on the time. */
  fields?(): object
  /** The file of the form, in place of the text of the example. */
  file?(): { field: string; name: string; content: Buffer }
}

/** Ids of the examples that preparations use. */
export const EXAMPLE_IDS = {
  project: '0199a7c0-0000-7000-8000-000000000001',
  domain: '0199a7c0-0000-7000-8000-000000000002',
  contact: '0199a7c0-0000-7000-8000-000000000003',
  endpoint: '0199a7c0-0000-7000-8000-000000000701',
} as const

/** A resolver that answers with the records that the server asks for, once `records` holds them. */
export function createExampleDns() {
  const records = new Map<string, string>()
  const expiresAt = Number.MAX_SAFE_INTEGER
  const answer = <T>(found: T | undefined): DnsAnswer<T> =>
    found === undefined
      ? { kind: 'nodata', expiresAt }
      : { kind: 'found', records: [found], expiresAt }
  const mx = (text: string | undefined): MxRecord | undefined => {
    const [preference, host = ''] = (text ?? '').split(' ')
    return text === undefined ? undefined : { preference: Number(preference), host }
  }
  const resolver: Pick<Resolver, 'txt' | 'mx' | 'a' | 'aaaa'> = {
    txt: async (name) => answer(records.get(`TXT ${name}`)),
    mx: async (name) => answer(mx(records.get(`MX ${name}`))),
    a: async () => answer('192.0.2.1'),
    aaaa: async () => ({ kind: 'nodata', expiresAt }),
  }
  records.set('MX example.org', '10 mx.example.org')
  return { resolver: resolver as Resolver, records }
}

export const sns = createSns()

/** What a service needs so that all examples succeed. */
export function exampleOptions(dns: ReturnType<typeof createExampleDns>) {
  return {
    resolver: dns.resolver,
    publicFetch: sns.publicFetch,
    topicArns: [TOPIC],
    accounts: { disableSignups: false },
  }
}

/** The domain of a sandbox, from which the examples send. */
export const trustExampleTest = async ({ core, projectId }: Stage) => {
  await trustDomain(core as TestCore, projectId, 'example.test')
}

export const makeRecords = async ({ core, projectId, dns }: Stage) => {
  for (const domain of await listDomains(core, projectId)) {
    for (const { name, type, value } of domain.records) dns.records.set(`${type} ${name}`, value)
  }
}

/** The token of the link that the last `openSetup` made. */
export let setupToken: string | undefined

/** Nobody may log in any more, as on a server that has left its sandbox. */
export const openSetup = async ({ core }: Stage) => {
  await core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
  setupToken = (await makeSetupLink(core))?.link.split('#')[1]
}

/** Another project of the owner. */
export const makeSurplus = async ({ core, projectId }: Stage) => {
  const { id } = await addProject(core as TestCore, 'Surplus')
  await core.store.write(async (tx) => {
    const isOwner = and(eq(memberships.projectId, projectId), eq(memberships.role, 'OWNER'))
    const owner = await tx.select().from(memberships).where(isOwner).get()
    if (owner !== undefined) await tx.insert(memberships).values({ ...owner, projectId: id })
  })
  return { id }
}

/** Runs background jobs until none is left. */
export const work = async ({ core }: Stage) => {
  const { handlers, limits } = createSchedule(core)
  const loop = startJobs({ store: core.store, log: core.log, now: core.now, handlers, limits })
  const left = () => core.store.read.$count(jobs, eq(jobs.state, 'waiting'))
  const active = () => core.store.read.$count(jobs, eq(jobs.state, 'active'))
  while ((await left()) + (await active()) > 0) await new Promise(setImmediate)
  await loop.stop(1_000)
}

/** Who asked for a job is shown, and differs from caller to caller. */
export const forgetAskers = async ({ core }: Stage) => {
  await core.store.write((tx) => tx.update(jobs).set({ userId: null }))
}

/** Leaves the job that ended last alone in the list. */
export const keepLastJob = async (stage: Stage) => {
  await forgetAskers(stage)
  await stage.core.store.write((tx) =>
    tx.run(sql`delete from jobs where completed_at is null or id not in (
      select id from jobs where kind = 'bulk' order by created_at desc limit 1)`),
  )
}

/** What the deleted events leave to the counting, which does not run here, would be read at each comparison. */
export const deleteEvents = async (stage: Stage) => {
  await work(stage)
  await stage.core.store.write((tx) => tx.delete(deletedEvents))
}

export const token = async ({ core, real }: Stage) => ({
  id: pageToken(core, { contactId: real(EXAMPLE_IDS.contact), emailId: undefined }),
})

export const makeCampaign = async ({ core, projectId }: Stage) => ({
  id: await addCampaign(core, projectId, {
    ...{ subject: 'Hello {{ name }}', body: '<p>Hello {{ name }}, spring is here.</p>' },
    ...{ fromAddress: 'hello@example.test', fromDomain: 'example.test' },
  }),
})

/** A campaign that is not sent needs its domain. */
export const removeCampaigns = async ({ core }: Stage) => {
  await core.store.write((tx) => tx.delete(campaigns))
}

/** So many that their deletion is a job. */
export const manyEvents = async ({ core, projectId, real }: Stage) => {
  const event = { projectId, contactId: real(EXAMPLE_IDS.contact), emailId: null, at: core.now() }
  const often = Array.from({ length: 501 }, () => ({ ...event, name: 'page viewed', data: null }))
  await core.store.write((tx) => appendEvents(tx, often))
}

/** What the project has used of its limits in this month. */
export const addUse = async ({ core, projectId }: Stage) => {
  const used = { transactional: 640, campaigns: 8_500, workflows: 120, inbound: 17 }
  const month = { projectId, startsAt: monthOf(core.now()) }
  await core.store.write(async (tx) => {
    await tx.delete(usageMonths).where(eq(usageMonths.projectId, projectId))
    await tx.insert(usageMonths).values({ ...month, ...used })
  })
}

export const OLD_MS = 20 * DAY_MS

export async function addOpen({ core, projectId }: Stage, ageMs: number): Promise<void> {
  const at = core.now() - ageMs
  const event = { projectId, name: 'email.open', contactId: null, emailId: null, data: {}, at }
  await core.store.write((tx) => appendEvents(tx, [event]))
}

/** A delivery that waits. */
export const makeDelivery = async ({ core, projectId, real }: Stage) => {
  const endpointId = real(EXAMPLE_IDS.endpoint)
  return { deliveryId: await addDelivery(core, { projectId, endpointId, name: 'email.open' }) }
}

const AUTUMN = Date.parse('2026-11-01T12:00:00.000Z')

/** Figures of two days and of the two before, and a campaign that was sent. */
export const addFigures = async ({ core, projectId }: Stage) => {
  const at = AUTUMN
  const campaign = await addRunningCampaign(core as TestCore, {
    ...{ projectId, name: 'Autumn sale', subject: 'Autumn sale: 20% off', status: 'SENT' },
    ...{ fromDomain: 'example.com', sentAt: core.now() },
  })
  await core.store.write((tx) =>
    tx
      .update(campaignProgress)
      .set({ sentCount: 1200, deliveredCount: 1180, openedCount: 530, clickedCount: 96 })
      .where(eq(campaignProgress.campaignId, campaign)),
  )
  const mail = { projectId, at, subjects: { provider: 'Gmail', campaign } }
  const gmail = { sent: 800, delivered: 792, opened: 380, clicked: 70, openedAndClicked: 66 }
  const outlook = { sent: 400, delivered: 388, opened: 150, clicked: 26, openedAndClicked: 24 }
  const early = { at: at - DAY_MS, sent: 500, delivered: 498, opened: 200 }
  const later = { projectId, at: at + 20 * HOUR_MS, stream: 'TRANSACTIONAL' as const }
  await countMail(
    core,
    { ...mail, ...gmail, hardBounced: 6, softBounced: 2, complained: 1, unsubscribed: 5 },
    { ...mail, ...outlook, hardBounced: 12, subjects: { provider: 'Microsoft', campaign } },
    { ...later, sent: 40, delivered: 40, opened: 31, subjects: { provider: 'Gmail' } },
    { ...mail, ...early, subjects: { provider: 'Gmail' } },
  )
  const link = { projectId, at, url: 'https://example.com/autumn' }
  await countLinks(
    core,
    { ...link, clicks: 120, firstClicks: 88 },
    { ...link, url: 'https://example.com/', clicks: 11, firstClicks: 8 },
  )
  const event = { projectId, at, stream: 'CAMPAIGN' as const }
  await countEvents(
    core,
    { ...event, name: 'email.open', events: 702 },
    { ...event, name: 'email.open', at: at - DAY_MS, events: 260 },
    { ...event, name: 'order placed', stream: '', events: 17 },
    { ...event, name: 'workflow.started', stream: '', events: 3 },
  )
}

export const makeList = async ({ core, projectId }: Stage) => {
  const { id } = await createSegment(core, { projectId, name: 'Beta testers', type: 'STATIC' })
  return { id }
}

export let invitationToken = ''

/** The link of the invitation is not in the examples, so that it cannot be accepted twice. */
export const invite = async ({ core, projectId }: Stage) => {
  const owner = await core.store.read
    .select({ id: memberships.userId })
    .from(memberships)
    .where(eq(memberships.projectId, projectId))
    .get()
  const role = 'MEMBER' as const
  const actorId = owner?.id ?? ''
  const invited = await inviteMember(core, { projectId, address: 'ann@example.com', role, actorId })
  invitationToken = invited.url?.split('/').at(-1) ?? ''
}

export const makeWorkflow = async ({ core, projectId }: Stage) => {
  const { id } = await addWorkflow(core, {
    projectId,
    steps: [
      { type: 'TRIGGER', name: 'signup' },
      { type: 'DELAY', name: 'One day' },
    ],
  })
  return { id }
}

const ADA = { email: 'ada@example.com', password: 'correct horse battery staple' }
/** The code that the authenticator app of Ada shows, when an example needs it. */
export let code = ''

export const addAda = async ({ core }: Stage) => {
  await createUser(core, { address: ADA.email, password: ADA.password })
}

export async function getAda({ core }: Stage) {
  const user = await core.store.read.select().from(users).where(eq(users.address, ADA.email)).get()
  if (user === undefined) throw new TypeError('Ada has no account')
  return user
}

const asAda = async (stage: Stage) => {
  const { id } = await getAda(stage)
  await stage.core.store.write((tx) => endSessions(tx, id))
  return logIn(stage.core, id)
}

/** A code that was not used yet: of this step of time, or of the next one. */
export const readCode = (steps: number) => async (stage: Stage) => {
  const { totpSecret } = await getAda(stage)
  code = codeOf(stage.core.keyring.unseal(totpSecret ?? ''), stage.core.now(), steps)
}

export const ofAda = (name: string, more: Partial<ExampleStep> = {}) => ({
  name,
  cookie: asAda,
  ...more,
})

/** The counts of a project that has sent for some months. */
export const addReputation = async ({ core, projectId }: Stage) => {
  const week = { emails: 1_250, bounces: 75, complaints: 1 }
  const older = { emails: 18_750, bounces: 165, complaints: 1 }
  const at = core.now()
  await core.store.write(async (tx) => {
    await tx
      .update(projects)
      .set({ createdAt: at - 90 * DAY_MS })
      .where(eq(projects.id, projectId))
    await addHourCounts(tx, [
      { projectId, startsAt: at - 3 * DAY_MS, ...week },
      { projectId, startsAt: at - 60 * DAY_MS, ...older },
    ])
  })
}

/** A session of a user whose address is not verified. */
export const unverified = async ({ core }: Stage) => {
  const { id } = await addUser(core, { verifiedAt: null })
  return logIn(core, id)
}

/** A session of an operator. */
export const operator = async ({ core }: Stage) => {
  const { id } = await addUser(core, { isOperator: true })
  return logIn(core, id)
}

/** The loopback address of these tests may read what monitors read. */
export const FROM_AFAR = { 'X-Forwarded-For': '198.51.100.7' }

/** The project sends the mail to users. */
export const configureMail = async ({ core, projectId }: Stage) => {
  core.config.accounts.mailProject = projectId
}

/** Stores the token of the examples, as if it had been mailed to a new user. */
export const mailToken =
  (purpose: TokenPurpose) =>
  async ({ core }: Stage) => {
    core.config.accounts.mailProject = null
    const { token } = Object(findExample(core, 'POST /auth/verify-email')?.request)
    const { id: userId } = await addUser(core, { verifiedAt: null })
    await core.store.write(async (tx) => {
      await tx.delete(accountTokens)
      await insertToken(tx, { token, userId, purpose, at: core.now() })
    })
  }

export const refuseRequest = async ({ core, projectId }: Stage) => {
  await addRequest(core, {
    ...{ projectId, method: 'POST', path: '/v1/send', statusCode: 422, caller: 'secret' },
    ...{ durationMs: 3, errorCode: 'VALIDATION_ERROR', ip: '192.0.2.7', userAgent: 'shop/1.4' },
    ...{ errorMessage: 'from: required', requestSizeBytes: 142, responseSizeBytes: 512 },
  })
}
