/**
 * The order in which the examples of the API documentation run: each operation needs only what
 * the operations before it have made. `prepare` makes what no operation can make.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/clock.ts'
import { createSchedule } from '../../src/core/areas.ts'
import { appendEvents } from '../../src/features/ground/events/append.ts'
import { monthOf } from '../../src/features/ground/usage/month.ts'
import { addHourCounts } from '../../src/features/insight/reputation/counters.ts'
import { listDomains } from '../../src/features/mail/domains/domains.ts'
import { createSegment } from '../../src/features/people/segments/edit-segment.ts'
import { inviteMember } from '../../src/features/tenancy/accounts/invitations/invite.ts'
import { insertToken } from '../../src/features/tenancy/accounts/links/email-tokens.ts'
import { endSessions } from '../../src/features/tenancy/accounts/sessions/sessions.ts'
import { createUser } from '../../src/features/tenancy/accounts/users/users.ts'
import type { DnsAnswer, MxRecord } from '../../src/outbound/dns/answer.ts'
import type { Resolver } from '../../src/outbound/dns/resolver.ts'
import { and, eq } from '../../src/store/drizzle.ts'
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
import { failExecution, sleepAtDelay } from '../features/outreach/workflows/place-execution.ts'
import { pageToken } from '../features/people/contacts/add-recipient.ts'
import { codeOf } from '../features/tenancy/accounts/totp-code.ts'
import { sample } from '../features/tenancy/uploads/images/samples.ts'
import { addUser, logIn } from '../session.ts'
import { closeBilling, openBilling, signAsStripe, subscribe } from './example-billing.ts'
import { findExample } from './listed-routes.ts'

type Stage = {
  core: TestCore
  projectId: string
  dns: ReturnType<typeof createExampleDns>
  real(example: string): string
}
export type ExampleStep = {
  name: string
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

const sns = createSns()

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
const trustExampleTest = async ({ core, projectId }: Stage) => {
  await trustDomain(core as TestCore, projectId, 'example.test')
}

const makeRecords = async ({ core, projectId, dns }: Stage) => {
  for (const domain of await listDomains(core, projectId)) {
    for (const { name, type, value } of domain.records) dns.records.set(`${type} ${name}`, value)
  }
}

/** Another project of the owner. */
const makeSurplus = async ({ core, projectId }: Stage) => {
  const { id } = await addProject(core as TestCore, 'Surplus')
  await core.store.write(async (tx) => {
    const isOwner = and(eq(memberships.projectId, projectId), eq(memberships.role, 'OWNER'))
    const owner = await tx.select().from(memberships).where(isOwner).get()
    if (owner !== undefined) await tx.insert(memberships).values({ ...owner, projectId: id })
  })
  return { id }
}

/** Runs background jobs until none is left. */
const work = async ({ core }: Stage) => {
  const { handlers, limits } = createSchedule(core)
  const loop = startJobs({ store: core.store, log: core.log, now: core.now, handlers, limits })
  const left = () => core.store.read.$count(jobs, eq(jobs.state, 'waiting'))
  const active = () => core.store.read.$count(jobs, eq(jobs.state, 'active'))
  while ((await left()) + (await active()) > 0) await new Promise(setImmediate)
  await loop.stop(1_000)
}

/** What the deleted events leave to the counting, which does not run here, would be read at each comparison. */
const deleteEvents = async (stage: Stage) => {
  await work(stage)
  await stage.core.store.write((tx) => tx.delete(deletedEvents))
}

const token = async ({ core, real }: Stage) => ({
  id: pageToken(core, { contactId: real(EXAMPLE_IDS.contact), emailId: undefined }),
})

const makeCampaign = async ({ core, projectId }: Stage) => ({
  id: await addCampaign(core, projectId, {
    ...{ subject: 'Hello {{ name }}', body: '<p>Hello {{ name }}, spring is here.</p>' },
    ...{ fromAddress: 'hello@example.test', fromDomain: 'example.test' },
  }),
})

/** A campaign that is not sent needs its domain. */
const removeCampaigns = async ({ core }: Stage) => {
  await core.store.write((tx) => tx.delete(campaigns))
}

/** So many that their deletion is a job. */
const manyEvents = async ({ core, projectId, real }: Stage) => {
  const event = { projectId, contactId: real(EXAMPLE_IDS.contact), emailId: null, at: core.now() }
  const often = Array.from({ length: 501 }, () => ({ ...event, name: 'page viewed', data: null }))
  await core.store.write((tx) => appendEvents(tx, often))
}

/** What the project has used of its limits in this month. */
const addUse = async ({ core, projectId }: Stage) => {
  const used = { transactional: 640, campaigns: 8_500, workflows: 120, inbound: 17 }
  const month = { projectId, startsAt: monthOf(core.now()) }
  await core.store.write(async (tx) => {
    await tx.delete(usageMonths).where(eq(usageMonths.projectId, projectId))
    await tx.insert(usageMonths).values({ ...month, ...used })
  })
}

const OLD_MS = 20 * DAY_MS

async function addOpen({ core, projectId }: Stage, ageMs: number): Promise<void> {
  const at = core.now() - ageMs
  const event = { projectId, name: 'email.open', contactId: null, emailId: null, data: {}, at }
  await core.store.write((tx) => appendEvents(tx, [event]))
}

/** A delivery that waits. */
const makeDelivery = async ({ core, projectId, real }: Stage) => {
  const endpointId = real(EXAMPLE_IDS.endpoint)
  return { deliveryId: await addDelivery(core, { projectId, endpointId, name: 'email.open' }) }
}

const AUTUMN = Date.parse('2026-11-01T12:00:00.000Z')

/** Figures of two days and of the two before, and a campaign that was sent. */
const addFigures = async ({ core, projectId }: Stage) => {
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

const makeList = async ({ core, projectId }: Stage) => {
  const { id } = await createSegment(core, { projectId, name: 'Beta testers', type: 'STATIC' })
  return { id }
}

let invitationToken = ''

/** The link of the invitation is not in the examples, so that it cannot be accepted twice. */
const invite = async ({ core, projectId }: Stage) => {
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

const makeWorkflow = async ({ core, projectId }: Stage) => {
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
let code = ''

const addAda = async ({ core }: Stage) => {
  await createUser(core, { address: ADA.email, password: ADA.password })
}

async function getAda({ core }: Stage) {
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
const readCode = (steps: number) => async (stage: Stage) => {
  const { totpSecret } = await getAda(stage)
  code = codeOf(stage.core.keyring.unseal(totpSecret ?? ''), stage.core.now(), steps)
}

const ofAda = (name: string, more: Partial<ExampleStep> = {}) => ({ name, cookie: asAda, ...more })

/** The counts of a project that has sent for some months. */
const addReputation = async ({ core, projectId }: Stage) => {
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
const unverified = async ({ core }: Stage) => {
  const { id } = await addUser(core, { verifiedAt: null })
  return logIn(core, id)
}

/** A session of an operator. */
const operator = async ({ core }: Stage) => {
  const { id } = await addUser(core, { isOperator: true })
  return logIn(core, id)
}

/** The loopback address of these tests may read what monitors read. */
const FROM_AFAR = { 'X-Forwarded-For': '198.51.100.7' }

/** The project sends the mail to users. */
const configureMail = async ({ core, projectId }: Stage) => {
  core.config.accounts.mailProject = projectId
}

/** Stores the token of the examples, as if it had been mailed to a new user. */
const mailToken =
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

const refuseRequest = async ({ core, projectId }: Stage) => {
  await addRequest(core, {
    ...{ projectId, method: 'POST', path: '/v1/send', statusCode: 422, caller: 'secret' },
    ...{ durationMs: 3, errorCode: 'VALIDATION_ERROR', ip: '192.0.2.7', userAgent: 'shop/1.4' },
    ...{ errorMessage: 'from: required', requestSizeBytes: 142, responseSizeBytes: 512 },
  })
}

export const exampleSequence: ExampleStep[] = [
  { name: 'POST /domains' },
  { name: 'GET /domains/:id/verify', prepare: makeRecords },
  { name: 'GET /domains/project/:projectId' },
  { name: 'POST /auth/signup', prepare: trustExampleTest },
  { name: 'POST /auth/request-verification', cookie: unverified, prepare: configureMail },
  { name: 'POST /auth/verify-email', prepare: mailToken('verify-email') },
  { name: 'POST /auth/request-password-reset' },
  { name: 'POST /auth/reset-password', prepare: mailToken('reset-password') },
  { name: 'POST /contacts' },
  { name: 'GET /contacts/:id' },
  { name: 'PATCH /contacts/:id' },
  { name: 'GET /contacts' },
  { name: 'POST /contacts/query' },
  { name: 'POST /contacts/lookup' },
  { name: 'GET /contacts/fields' },
  { name: 'GET /contacts/fields/:field/values' },
  { name: 'GET /contacts/export' },
  { name: 'GET /contacts/public/:id', prepare: token },
  { name: 'POST /contacts/public/:id/unsubscribe', prepare: token },
  { name: 'POST /contacts/public/:id/subscribe', prepare: token },
  { name: 'POST /templates' },
  { name: 'GET /templates' },
  { name: 'GET /templates/:id' },
  { name: 'PATCH /templates/:id' },
  { name: 'POST /v1/send' },
  { name: 'GET /emails' },
  { name: 'GET /emails/:id' },
  { name: 'GET /emails/:id/raw' },
  { name: 'POST /emails/:id/cancel' },
  { name: 'POST /emails/:id/retry' },
  { name: 'GET /templates/:id/usage' },
  { name: 'POST /templates/:id/duplicate' },
  { name: 'POST /templates/bulk-update' },
  { name: 'POST /v1/track' },
  { name: 'POST /v1/verify' },
  { name: 'POST /events/track' },
  { name: 'GET /events' },
  { name: 'GET /events/stats' },
  { name: 'GET /events/names' },
  { name: 'GET /events/contact/:contactId' },
  { name: 'POST /segments' },
  { name: 'GET /segments' },
  { name: 'GET /segments/:id' },
  { name: 'PATCH /segments/:id' },
  { name: 'GET /segments/:id/contacts' },
  { name: 'GET /contacts/fields/:field/usage' },
  { name: 'POST /segments/:id/refresh' },
  { name: 'POST /segments/:id/check' },
  { name: 'GET /activity' },
  { name: 'GET /activity/recent-count' },
  { name: 'GET /activity/types' },
  { name: 'GET /activity/upcoming' },
  { name: 'POST /campaigns' },
  { name: 'GET /campaigns/:id' },
  { name: 'PUT /campaigns/:id' },
  { name: 'GET /campaigns' },
  { name: 'POST /campaigns/audience' },
  { name: 'GET /campaigns/:id/audience' },
  { name: 'POST /campaigns/:id/duplicate' },
  { name: 'POST /campaigns/:id/archive' },
  { name: 'POST /campaigns/:id/unarchive' },
  { name: 'POST /campaigns/bulk-update' },
  { name: 'DELETE /campaigns/:id' },
  { name: 'POST /workflows' },
  { name: 'GET /workflows' },
  { name: 'GET /workflows/fields' },
  { name: 'POST /workflows/:id/steps' },
  { name: 'PATCH /workflows/:id/steps/:stepId' },
  { name: 'POST /workflows/:id/transitions/:transitionId/insert-step' },
  { name: 'DELETE /workflows/:id/transitions/:transitionId' },
  { name: 'POST /workflows/:id/transitions' },
  { name: 'POST /workflows/:id/validate' },
  { name: 'PATCH /workflows/:id' },
  { name: 'DELETE /workflows/:id/steps/:stepId' },
  { name: 'GET /workflows/:id' },
  { name: 'PUT /workflows/:id/graph' },
  { name: 'POST /workflows/:id/duplicate' },
  { name: 'POST /workflows/bulk-update' },
  { name: 'DELETE /workflows/:id' },
  { name: 'POST /render' },
  { name: 'POST /campaigns/:id/check', prepare: makeCampaign },
  { name: 'POST /campaigns/:id/test', prepare: makeCampaign },
  { name: 'POST /campaigns/:id/send', prepare: makeCampaign },
  {
    name: 'POST /campaigns/:id/pause',
    prepare: async ({ core, projectId }) => ({
      id: await addRunningCampaign(core, { projectId, fromDomain: 'example.com' }),
    }),
  },
  { name: 'POST /campaigns/:id/resume' },
  { name: 'GET /campaigns/:id/stats' },
  { name: 'GET /campaigns/:id/recipients' },
  { name: 'GET /campaigns/:id/recipients/export' },
  { name: 'GET /campaigns/:id/links' },
  { name: 'POST /campaigns/:id/retry-failed' },
  { name: 'POST /campaigns/:id/cancel' },
  { name: 'GET /analytics/overview', prepare: addFigures },
  { name: 'GET /analytics/timeseries' },
  { name: 'GET /analytics/deliverability' },
  { name: 'GET /analytics/leaderboard' },
  { name: 'GET /analytics/links' },
  { name: 'GET /analytics/events' },
  { name: 'GET /analytics/top-campaigns' },
  { name: 'GET /analytics/campaign-stats' },
  { name: 'GET /analytics/top-events' },
  { name: 'GET /activity/stats' },
  { name: 'POST /workflows/:id/executions', prepare: makeWorkflow },
  { name: 'GET /workflows/:id/executions', prepare: ({ core }) => sleepAtDelay(core) },
  { name: 'GET /workflows/:id/executions/:eid' },
  { name: 'GET /workflows/:id/stats' },
  {
    name: 'POST /workflows/:id/executions/:eid/retry',
    prepare: ({ core }) => failExecution(core),
  },
  { name: 'DELETE /workflows/:id/executions/:eid' },
  { name: 'POST /workflows/:id/executions/bulk' },
  { name: 'GET /workflows/:id/executions/bulk/:jobId', prepare: work },
  { name: 'POST /workflows/:id/executions/cancel-all' },
  { name: 'GET /events/:eventName/usage' },
  { name: 'DELETE /events/:eventName', prepare: manyEvents },
  { name: 'GET /events/jobs/:jobId', prepare: deleteEvents },
  { name: 'POST /contacts/import' },
  { name: 'GET /contacts/import/:jobId', prepare: work },
  { name: 'POST /contacts/verify' },
  { name: 'GET /contacts/verify/:jobId', prepare: work },
  { name: 'POST /contacts/bulk-subscribe' },
  { name: 'POST /contacts/bulk-unsubscribe' },
  { name: 'GET /contacts/bulk/:jobId', prepare: work },
  { name: 'POST /segments/:id/compute' },
  { name: 'POST /segments/:id/members', prepare: makeList },
  { name: 'DELETE /segments/:id/members' },
  { name: 'POST /suppressions' },
  { name: 'GET /suppressions' },
  { name: 'DELETE /suppressions/:id' },
  { name: 'DELETE /suppressions' },
  { name: 'POST /suppressions/import' },
  { name: 'GET /suppressions/import/:jobId', prepare: work },
  { name: 'POST /webhooks/endpoints' },
  { name: 'GET /webhooks/endpoints' },
  { name: 'GET /webhooks/endpoints/:id' },
  { name: 'PATCH /webhooks/endpoints/:id' },
  { name: 'POST /webhooks/endpoints/:id/test' },
  { name: 'GET /webhooks/endpoints/:id/deliveries' },
  {
    name: 'POST /webhooks/endpoints/:id/deliveries/:deliveryId/replay',
    prepare: makeDelivery,
  },
  {
    name: 'POST /webhooks/endpoints/:id/replay',
    prepare: (stage) => addOpen(stage, OLD_MS),
    fields: () => ({
      since: new Date(Date.now() - OLD_MS - MINUTE_MS).toISOString(),
      until: new Date(Date.now() - OLD_MS + MINUTE_MS).toISOString(),
    }),
  },
  { name: 'GET /webhooks/endpoints/:id/replay/:jobId', prepare: work },
  { name: 'POST /webhooks/endpoints/:id/rotate-secret' },
  { name: 'DELETE /webhooks/endpoints/:id' },
  { name: 'GET /webhooks/signing-secret' },
  { name: 'POST /webhooks/signing-secret/rotate' },
  { name: 'GET /users/@me/projects/:id/security', prepare: addReputation },
  { name: 'GET /projects/:id/security' },
  { name: 'DELETE /contacts/fields/:field' },
  { name: 'POST /contacts/bulk-delete' },
  { name: 'DELETE /contacts/:id' },
  { name: 'DELETE /segments/:id' },
  { name: 'DELETE /templates/:id' },
  { name: 'POST /users/@me/projects' },
  { name: 'PATCH /users/@me/projects/:id' },
  { name: 'GET /users/@me/projects' },
  { name: 'POST /users/@me/projects/:id/regenerate-keys' },
  { name: 'GET /projects' },
  { name: 'GET /projects/:id' },
  { name: 'GET /projects/:id/setup-state' },
  { name: 'POST /projects/:id/members' },
  { name: 'GET /projects/:id/invitations' },
  { name: 'DELETE /projects/:id/invitations/:invitationId' },
  {
    name: 'POST /auth/accept-invitation',
    prepare: invite,
    fields: () => ({ token: invitationToken }),
  },
  { name: 'GET /projects/:id/members' },
  { name: 'PATCH /projects/:id/members/:userId' },
  { name: 'DELETE /projects/:id/members/:userId' },
  { name: 'DELETE /domains/:id', prepare: removeCampaigns },
  { name: 'GET /auth/oauth-config' },
  { name: 'POST /auth/login', prepare: addAda },
  { name: 'GET /auth/logout' },
  { name: 'POST /auth/logout' },
  ofAda('GET /users/@me'),
  ofAda('PATCH /users/@me'),
  ofAda('GET /users/@me/sessions'),
  {
    name: 'DELETE /users/@me/sessions/:id',
    cookie: async (stage) => logIn(stage.core, (await getAda(stage)).id),
  },
  ofAda('POST /users/@me/totp'),
  ofAda('POST /users/@me/totp/confirm', { prepare: readCode(0), fields: () => ({ code }) }),
  ofAda('DELETE /users/@me/totp', { prepare: readCode(1), fields: () => ({ code }) }),
  { name: 'POST /users/@me/projects/:id/checkout', prepare: openBilling },
  { name: 'POST /users/@me/projects/:id/billing-portal', prepare: subscribe },
  { name: 'GET /users/@me/projects/:id/billing-consumption' },
  { name: 'GET /users/@me/projects/:id/billing-invoices' },
  { name: 'POST /webhooks/incoming/stripe', sign: signAsStripe },
  {
    name: 'PUT /users/@me/projects/:id/billing-limits',
    prepare: async (stage) => {
      await closeBilling(stage)
      await addUse(stage)
    },
  },
  { name: 'GET /users/@me/projects/:id/billing-limits' },
  { name: 'GET /users/@me/projects/:id/reset' },
  { name: 'POST /users/@me/projects/:id/reset', prepare: makeSurplus },
  { name: 'DELETE /users/@me/projects/:id' },
  {
    name: 'POST /uploads/image',
    file: () => ({ field: 'image', name: 'logo.png', content: sample('png') }),
  },
  { name: 'GET /uploads' },
  { name: 'GET /uploads/:name' },
  { name: 'DELETE /uploads/:name' },
  { name: 'POST /webhooks/sns', fields: () => sns.message() },
  { name: 'GET /requests', prepare: refuseRequest },
  { name: 'GET /config' },
  { name: 'GET /health', headers: FROM_AFAR },
  { name: 'GET /health/checks', headers: FROM_AFAR, cookie: operator },
]
