import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Config } from '../../../../src/config/config.ts'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { startLazyReader } from '../../../../src/features/ground/events/readers.ts'
import { reputationHandler } from '../../../../src/features/insight/reputation/follow-events.ts'
import { viewSecurity } from '../../../../src/features/insight/reputation/security.ts'
import { deleteExpiredHours } from '../../../../src/features/insight/reputation/windows.ts'
import { PLATFORM_MAIL_KIND } from '../../../../src/features/tenancy/accounts/platform-mail/enqueue.ts'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import {
  newProjectHours,
  reputationHours,
  reputationTotals,
} from '../../../../src/store/schema/reputation.ts'
import { textsOf } from '../../../../src/texts/texts.ts'
import { addProject, address, openTestCore, START, trustDomain } from '../../../core.ts'
import { addMember, addUser } from '../../../session.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'
import { mailTo, writeMail } from '../../tenancy/accounts/platform-mail/mailed.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Judged = Sender & {
  /** Appends events of the email, in the order given. */
  happen(id: string, ...names: Happening[]): Promise<void>
  /** Lets the follower count what has happened. */
  count(): Promise<void>
  add(address?: string): Promise<string>
  /** A new email to each of so many people. */
  addMany(count: number): Promise<string[]>
  /** What the log was warned of. */
  warnings: string[]
}
type Happening = 'sent' | 'bounce' | 'soft' | 'delay' | 'complaint'

const EVENTS = {
  sent: { name: 'email.sent', data: null },
  bounce: { name: 'email.bounce', data: { bounceType: 'Permanent' } },
  soft: { name: 'email.bounce', data: { bounceType: 'Undetermined' } },
  delay: { name: 'email.bounce', data: { bounceType: 'Transient', transientBounce: true } },
  complaint: { name: 'email.complaint', data: { feedbackType: 'abuse' } },
} as const

/** `configure`: changes what the follower sees of the configuration. */
async function openJudged(
  t: TestContext,
  configure: (config: Config, projectId: string) => Config = (config) => config,
): Promise<Judged> {
  const sender = await openSender(t)
  const { core, project } = sender
  const warnings: string[] = []
  const log = { ...core.log, warn: (_: object, text: string) => void warnings.push(text) }
  const config = configure(core.config, project.id)
  const follower = startLazyReader(core, [
    reputationHandler({ ...core, config, log: log as typeof core.log }),
  ])
  t.after(follower.stop)
  let people = 0
  const nextPerson = () => {
    people += 1
    return `person${people}@dest.test`
  }
  const sendTo = async (to: string[]) => {
    const mailboxes = to.map((text) => ({ address: address(text), name: null }))
    const { emails: accepted } = await sender.send({ to: mailboxes })
    return accepted.map(({ email }) => email)
  }
  return {
    ...sender,
    warnings,
    count: () => follower.caughtUp(),
    add: async (to) => (await sendTo([to ?? nextPerson()]))[0] as string,
    addMany: (count) => sendTo(Array.from({ length: count }, nextPerson)),
    happen: async (id, ...names) => {
      await core.store.write(async (tx) => {
        const { contactId = null } =
          (await tx.select().from(emails).where(eq(emails.id, id)).get()) ?? {}
        const at = core.now()
        if (names.includes('sent')) {
          await tx.update(emails).set({ sentAt: at }).where(eq(emails.id, id))
        }
        const event = { projectId: project.id, contactId, emailId: id, at }
        await appendEvents(
          tx,
          names.map((name) => ({ ...event, ...EVENTS[name] })),
        )
      })
    },
  }
}

const hoursOf = ({ core }: Sender) =>
  core.store.read.select().from(reputationHours).orderBy(reputationHours.startsAt).all()
const totalsOf = async ({ core, project }: Sender) => {
  const { emails, bounces, complaints } = reputationTotals
  return core.store.read
    .select({ emails, bounces, complaints })
    .from(reputationTotals)
    .where(eq(reputationTotals.projectId, project.id))
    .get()
}
const projectOf = ({ core, project }: Sender) =>
  core.store.read.select().from(projects).where(eq(projects.id, project.id)).get()
const mailsOf = async ({ core }: Sender) => {
  const rows = await core.store.read.select().from(jobs).where(eq(jobs.kind, PLATFORM_MAIL_KIND))
  return rows.map(({ payload }) => payload)
}

/** A hundred sent emails, and so many of them that bounced. */
async function sendHundred(judged: Judged, bounces: number): Promise<void> {
  const ids = await judged.addMany(100)
  for (const [index, id] of ids.entries()) {
    const isBounce = index >= ids.length - bounces
    await judged.happen(id, ...(isBounce ? (['sent', 'bounce'] as const) : (['sent'] as const)))
  }
}

test('sent and refused emails count once, hard bounces and complaints beside them', async (t) => {
  const judged = await openJudged(t)
  await judged.happen(await judged.add(), 'sent')
  await judged.happen(await judged.add(), 'sent', 'delay', 'bounce')
  await judged.happen(await judged.add(), 'bounce')
  await judged.happen(await judged.add(), 'soft')
  await judged.happen(await judged.add(), 'sent', 'complaint')
  await judged.happen(await judged.add(), 'delay')
  await judged.count()
  const counts = { emails: 5, bounces: 2, complaints: 1 }
  assert.deepEqual(await totalsOf(judged), counts)
  assert.deepEqual(await hoursOf(judged), [
    { projectId: judged.project.id, startsAt: START, ...counts },
  ])
})

test('platform mail and mail to the simulator of Amazon SES do not count', async (t) => {
  const judged = await openJudged(t)
  const platform = await judged.add()
  await judged.core.store.write((tx) =>
    tx.update(emails).set({ isPlatform: true }).where(eq(emails.id, platform)).run(),
  )
  await judged.happen(platform, 'sent', 'bounce')
  await judged.happen(await judged.add('bounce@simulator.amazonses.com'), 'sent', 'bounce')
  await judged.count()
  assert.deepEqual(await hoursOf(judged), [])
})

test('events count in their own hours, however late they are counted', async (t) => {
  const judged = await openJudged(t)
  await judged.happen(await judged.add(), 'sent')
  judged.clock.now += 90 * 60_000
  await judged.happen(await judged.add(), 'sent')
  judged.clock.now += DAY_MS
  await judged.count()
  const hours = await hoursOf(judged)
  assert.deepEqual(
    hours.map(({ startsAt, emails: count }) => [startsAt, count]),
    [
      [START, 1],
      [START + HOUR_MS, 1],
    ],
  )
  const { status } = await viewSecurity(judged.core, judged.project.id)
  assert.deepEqual(
    [status.twentyFourHour.total, status.sevenDay.total, status.allTime.total],
    [0, 2, 2],
  )
})

test('S27: a project is disabled in the moment that it becomes critical, once, and its members are told', async (t) => {
  const judged = await openJudged(t)
  await sendHundred(judged, 9)
  await judged.count()
  assert.equal((await projectOf(judged))?.isDisabled, false)
  await judged.happen(await judged.add(), 'sent', 'bounce')
  await judged.happen(await judged.add(), 'sent', 'bounce')
  await judged.count()
  const disabled = await projectOf(judged)
  assert.deepEqual(
    [disabled?.isDisabled, disabled?.disabledReason, disabled?.disabledAt],
    [true, 'EMAIL_REPUTATION', START],
  )
  assert.equal((await judged.core.directory.findProject(judged.project.id))?.isDisabled, true)
  const mail = { kind: 'project-disabled', projectId: judged.project.id }
  assert.deepEqual(await mailsOf(judged), [mail])
  judged.clock.now += HOUR_MS
  await judged.happen(await judged.add(), 'sent', 'bounce')
  await judged.count()
  assert.equal((await projectOf(judged))?.disabledAt, START)
  assert.equal((await mailsOf(judged)).length, 1)
})

const exempt: [string, (config: Config, projectId: string) => Config][] = [
  [
    'security.auto_disable is off',
    (config) => ({ ...config, security: { ...config.security, autoDisable: false } }),
  ],
  [
    'the project sends the mail of the server',
    (config, mailProject) => ({ ...config, accounts: { ...config.accounts, mailProject } }),
  ],
]

for (const [name, configure] of exempt) {
  test(`S27: if ${name}, the log is warned once an hour, and nothing is disabled`, async (t) => {
    const judged = await openJudged(t, configure)
    await sendHundred(judged, 12)
    await judged.count()
    await judged.happen(await judged.add(), 'sent', 'bounce')
    await judged.count()
    const warning = 'a project has a critical reputation and is not disabled'
    assert.deepEqual(judged.warnings, [warning])
    judged.clock.now += HOUR_MS
    await judged.happen(await judged.add(), 'sent', 'bounce')
    await judged.count()
    assert.deepEqual(judged.warnings, [warning, warning])
    assert.equal((await projectOf(judged))?.isDisabled, false)
    assert.deepEqual(await mailsOf(judged), [])
  })
}

test('S27: in sandbox mode the project of the sandbox is not disabled', async (t) => {
  const judged = await openJudged(t, (config) => ({
    ...config,
    delivery: { ...config.delivery, mode: 'sandbox' },
  }))
  await sendHundred(judged, 12)
  await judged.count()
  assert.equal((await projectOf(judged))?.isDisabled, false)
})

test('enabling begins all windows anew, within the same hour', async (t) => {
  const judged = await openJudged(t)
  const { core, project, clock } = judged
  await sendHundred(judged, 12)
  await judged.count()
  assert.equal((await projectOf(judged))?.isDisabled, true)
  clock.now += 10 * 60_000
  await updateProject(core, project.id, { enable: true })
  const enabled = await projectOf(judged)
  assert.deepEqual(
    [enabled?.isDisabled, enabled?.disabledReason, enabled?.disabledAt, enabled?.reputationSince],
    [false, null, null, clock.now],
  )
  const { status, isDisabled } = await viewSecurity(core, project.id)
  const none = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 }
  assert.deepEqual(
    [status.twentyFourHour, status.sevenDay, status.allTime, isDisabled],
    [none, none, none, false],
  )
  await judged.happen(await judged.add(), 'sent', 'bounce')
  await judged.count()
  assert.equal((await projectOf(judged))?.isDisabled, false)
  const hours = await hoursOf(judged)
  assert.deepEqual(
    hours.map(({ startsAt, bounces }) => [startsAt, bounces]),
    [
      [START, 12],
      [clock.now, 1],
    ],
  )
  assert.deepEqual(await totalsOf(judged), { emails: 1, bounces: 1, complaints: 0 })
})

test('an event from before the enabling, which is counted after it, does not count', async (t) => {
  const judged = await openJudged(t)
  await judged.count()
  await updateProject(judged.core, judged.project.id, { disable: 'MANUAL' })
  await judged.happen(await judged.add(), 'sent')
  judged.clock.now += 1
  await updateProject(judged.core, judged.project.id, { enable: true })
  const late = await judged.add()
  judged.clock.now -= 1
  await judged.happen(late, 'sent', 'bounce')
  judged.clock.now += 1
  await judged.count()
  assert.equal(await totalsOf(judged), undefined)
})

test('to enable a project that is enabled changes no window', async (t) => {
  const judged = await openJudged(t)
  await judged.happen(await judged.add(), 'sent')
  await judged.count()
  await updateProject(judged.core, judged.project.id, { enable: true })
  assert.equal((await projectOf(judged))?.reputationSince, 0)
  assert.equal((await totalsOf(judged))?.emails, 1)
})

test('a disabling by command mails the members once, and another reason keeps the time', async (t) => {
  const judged = await openJudged(t)
  const { core, project, clock } = judged
  await updateProject(core, project.id, { disable: 'EMAIL_REPUTATION' })
  clock.now += HOUR_MS
  await updateProject(core, project.id, { disable: 'PHISHING_DETECTED' })
  const { disabledReason, disabledAt } = (await projectOf(judged)) ?? {}
  assert.deepEqual([disabledReason, disabledAt], ['PHISHING_DETECTED', START])
  assert.equal((await mailsOf(judged)).length, 1)
})

test('a project under reset stays disabled when it is enabled, and its counters stay', async (t) => {
  const judged = await openJudged(t)
  const { core, project } = judged
  await judged.happen(await judged.add(), 'sent')
  await judged.count()
  await core.store.write((tx) =>
    tx
      .update(projects)
      .set({ isDisabled: true, resetSince: START })
      .where(eq(projects.id, project.id))
      .run(),
  )
  await updateProject(core, project.id, { enable: true })
  const { isDisabled, reputationSince } = (await projectOf(judged)) ?? {}
  assert.deepEqual([isDisabled, reputationSince], [true, 0])
  assert.equal((await totalsOf(judged))?.emails, 1)
})

test('a project that is disabled while it is reset is told so once', async (t) => {
  const judged = await openJudged(t)
  const { core, project } = judged
  await core.store.write((tx) =>
    tx
      .update(projects)
      .set({ isDisabled: true, resetSince: START })
      .where(eq(projects.id, project.id))
      .run(),
  )
  await updateProject(core, project.id, { disable: 'MANUAL' })
  await updateProject(core, project.id, { disable: 'PHISHING_DETECTED' })
  assert.deepEqual(await mailsOf(judged), [{ kind: 'project-disabled', projectId: project.id }])
})

test('S27: the members of a disabled project get the mail', async (t) => {
  const sender = await openJudged(t)
  const { core, project } = sender
  const mail = await addProject(core, 'Mail')
  await trustDomain(core, mail.id, 'server.test')
  const config = { ...core.config, accounts: { ...core.config.accounts, mailProject: mail.id } }
  const [ann, ben] = [await addUser(core), await addUser(core, { language: 'de' })]
  for (const { id: userId } of [ann, ben]) {
    await addMember(core, { projectId: project.id, userId, role: 'MEMBER' })
  }
  await sendHundred(sender, 12)
  await sender.count()
  assert.equal(await writeMail({ ...core, config }), 1)
  const subjects = async (to: string) =>
    (await mailTo(core, to)).map(({ subject, email }) => [subject, email.state, email.isPlatform])
  const [en, de] = [textsOf('en').mail, textsOf('de').mail]
  const subjectIn = ({ disabled }: typeof en) => disabled.subject.replace('{project}', project.name)
  assert.deepEqual(await subjects(ann.address), [[subjectIn(en), 'queued', true]])
  assert.deepEqual(await subjects(ben.address), [[subjectIn(de), 'queued', true]])
})

test('S27: mail of the server is no mail of its young project', async (t) => {
  const limit = { PILLARBOX_LIMITS__NEW_PROJECT_DAILY: '1' }
  const core = await openTestCore(t, { settings: limit })
  const mail = await addProject(core, 'Mail')
  await trustDomain(core, mail.id, 'server.test')
  const config = { ...core.config, accounts: { ...core.config.accounts, mailProject: mail.id } }
  for (const name of ['One', 'Two', 'Three']) {
    const { id } = await addProject(core, name)
    await updateProject(core, id, { disable: 'MANUAL' })
  }
  assert.equal(await writeMail({ ...core, config }), 3)
  assert.deepEqual(await core.store.read.select().from(newProjectHours), [])
  assert.equal(await core.store.read.$count(emails, eq(emails.state, 'queued')), 3)
})

test('hours are deleted some projects at a time', async (t) => {
  const core = await openTestCore(t)
  const ids: string[] = []
  let writes = 0
  for (let index = 0; index < 45; index += 1) ids.push((await addProject(core, 'A')).id)
  const rowOf = (projectId: string) => ({ projectId, startsAt: START - 9 * DAY_MS, emails: 1 })
  await core.store.write(async (tx) => {
    await tx.insert(newProjectHours).values(ids.map(rowOf))
    await tx.insert(newProjectHours).values({ ...rowOf(ids[0] as string), startsAt: START })
  })
  const write: typeof core.store.write = (act, options) => {
    writes += 1
    return core.store.write(act, options)
  }
  await deleteExpiredHours({ ...core, store: { ...core.store, write } })
  assert.equal(await core.store.read.$count(newProjectHours), 1)
  assert.equal(writes, 3)
})

test('hours are deleted after eight days, and totals stay', async (t) => {
  const judged = await openJudged(t)
  await judged.happen(await judged.add(), 'sent')
  await judged.count()
  judged.clock.now += 8 * DAY_MS
  await deleteExpiredHours(judged.core)
  assert.equal((await hoursOf(judged)).length, 1)
  judged.clock.now += 1
  await deleteExpiredHours(judged.core)
  assert.deepEqual(await hoursOf(judged), [])
  assert.equal((await totalsOf(judged))?.emails, 1)
})
