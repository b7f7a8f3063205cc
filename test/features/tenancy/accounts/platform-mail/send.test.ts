import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { createSchedule } from '../../../../../src/core/areas.ts'
import { monthOf } from '../../../../../src/features/ground/usage/month.ts'
import { suppress } from '../../../../../src/features/mail/messages/outcome/suppression.ts'
import { upsertContact } from '../../../../../src/features/people/contacts/write/contact-queue.ts'
import { digestLinkToken } from '../../../../../src/features/tenancy/accounts/links/link-tokens.ts'
import {
  enqueuePlatformMail,
  PLATFORM_MAIL_KIND,
  type PlatformMail,
} from '../../../../../src/features/tenancy/accounts/platform-mail/enqueue.ts'
import { sendPlatformMail } from '../../../../../src/features/tenancy/accounts/platform-mail/send.ts'
import { judgeSender } from '../../../../../src/features/tenancy/accounts/platform-mail/sender.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { invitations, projects, users } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { LANGUAGES } from '../../../../../src/texts/languages.ts'
import { textsOf } from '../../../../../src/texts/texts.ts'
import { claimJobs } from '../../../../../src/work/jobs/job-row.ts'
import { addProject, address, openTestCore, type TestCore, trustDomain } from '../../../../core.ts'
import { addMember, addUser } from '../../../../session.ts'
import { composed, mailTo, writeMail } from './mailed.ts'

const BASE_URL = 'https://mail.shop.test'

/** A core whose project `mail` sends to users, and a project `shop` of others. */
async function openMailer(t: TestContext) {
  const core = await openTestCore(t, {
    settings: { PILLARBOX_BASE_URL: BASE_URL },
    // A copy, which tests change.
    configure: (config) => ({ ...config, accounts: { ...config.accounts } }),
  })
  const mail = await addProject(core, 'Mail')
  const shop = await addProject(core, 'Shop')
  await trustDomain(core, mail.id, 'example.test')
  core.config.accounts.mailProject = mail.id
  return { core, mail, shop }
}

const ask = (core: TestCore, mail: PlatformMail) =>
  core.store.write((tx) => enqueuePlatformMail(tx, mail, core.now()))

async function invite(core: TestCore, projectId: string, by: string, email = 'new@people.test') {
  const id = newId()
  const at = core.now()
  const times = { createdAt: at, expiresAt: at + 7 * DAY_MS }
  const row = { id, projectId, address: email, role: 'MEMBER', invitedBy: by, isMailed: true }
  await core.store.write((tx) =>
    tx.insert(invitations).values({ ...row, role: 'MEMBER' as const, ...times }),
  )
  return id
}

const findInvitation = (core: TestCore, id: string) =>
  core.store.read.select().from(invitations).where(eq(invitations.id, id)).get()

describe('mail to the users of the server', () => {
  it('invites with a link whose digest the invitation holds', async (t) => {
    const { core, shop } = await openMailer(t)
    const id = await invite(core, shop.id, shop.ownerId)
    await ask(core, { kind: 'invitation', invitationId: id })
    await writeMail(core)
    const [mail, ...others] = await mailTo(core, 'new@people.test')
    assert.ok(mail)
    assert.deepEqual(others, [])
    const token = mail.link.slice(-64)
    assert.equal(mail.link, `${BASE_URL}/invitations/${token}`)
    assert.equal((await findInvitation(core, id))?.digest, digestLinkToken(token))
    assert.equal(mail.subject, 'Invitation to Shop')
    assert.match(mail.text, new RegExp(`^${shop.ownerAddress} invites you to .* Shop at mail.shop`))
    assert.deepEqual([mail.email.isPlatform, mail.email.ignoresComplaint], [true, false])
  })

  it('sends no invitation that was revoked, accepted or has expired, or to a deleted project', async (t) => {
    const { core, shop } = await openMailer(t)
    const at = core.now()
    for (const change of [{ revokedAt: at }, { acceptedAt: at }, { expiresAt: at }]) {
      const id = await invite(core, shop.id, shop.ownerId)
      await core.store.write((tx) =>
        tx.update(invitations).set(change).where(eq(invitations.id, id)),
      )
      await ask(core, { kind: 'invitation', invitationId: id })
    }
    const id = await invite(core, shop.id, shop.ownerId)
    await core.store.write((tx) =>
      tx.update(projects).set({ deletedAt: at }).where(eq(projects.id, shop.id)),
    )
    await ask(core, { kind: 'invitation', invitationId: id })
    assert.equal(await writeMail(core), 4)
    assert.equal(await core.store.read.$count(emails), 0)
    assert.equal((await findInvitation(core, id))?.digest, null)
  })

  it('S32: tells all members that their project was disabled, but no address that is not proven', async (t) => {
    const { core, shop } = await openMailer(t)
    const reader = await addUser(core, { language: 'sv' })
    await addMember(core, { projectId: shop.id, userId: reader.id, role: 'MEMBER' })
    const stranger = await addUser(core)
    const unproven = await addUser(core, { verifiedAt: null })
    await addMember(core, { projectId: shop.id, userId: unproven.id, role: 'ADMIN' })
    const disable = async (reason: string) => {
      await updateProject(core, shop.id, { disable: reason })
      await writeMail(core)
    }
    await disable('EMAIL_REPUTATION')
    const [english] = await mailTo(core, shop.ownerAddress)
    assert.equal(english?.subject, 'Shop was disabled')
    assert.match(english?.text ?? '', /bounced or were reported as spam/)
    assert.deepEqual([english?.link, /<a /.test(english?.html ?? '')], ['', false])
    const [swedish] = await mailTo(core, reader.address)
    assert.equal(swedish?.subject, 'Shop har stängts av')
    assert.equal(swedish?.locale, 'sv')
    assert.deepEqual(await mailTo(core, stranger.address), [])
    assert.deepEqual(await mailTo(core, unproven.address), [])
    // Another reason is no other event.
    await disable('MANUAL')
    await updateProject(core, shop.id, { enable: true })
    await disable('MANUAL')
    const [, manual] = await mailTo(core, shop.ownerAddress)
    assert.doesNotMatch(manual?.text ?? '', /spam/)
    // Enabled again before the mail was written.
    await updateProject(core, shop.id, { enable: true })
    await updateProject(core, shop.id, { disable: 'MANUAL' })
    await updateProject(core, shop.id, { enable: true })
    await writeMail(core)
    assert.equal((await mailTo(core, shop.ownerAddress)).length, 2)
  })

  it('tells all members of a lost domain, by its readable name', async (t) => {
    const { core, shop } = await openMailer(t)
    await ask(core, { kind: 'domain-lost', projectId: shop.id, domain: 'xn--mnchen-3ya.test' })
    await writeMail(core)
    const [mail] = await mailTo(core, shop.ownerAddress)
    assert.equal(mail?.subject, 'münchen.test can no longer send email')
    assert.match(mail?.text ?? '', /The project Shop at mail\.shop\.test/)
  })

  it('tells all members of a limit, with its numbers and what happens at it', async (t) => {
    const { core, shop } = await openMailer(t)
    const { id: userId, address: to } = await addUser(core, { language: 'de' })
    await addMember(core, { projectId: shop.id, userId, role: 'MEMBER' })
    const startsAt = monthOf(core.now())
    const notice = { kind: 'usage-limit', projectId: shop.id, startsAt } as const
    const numbers = { percent: 80, limit: 10_000, used: 8_000 } as const
    await ask(core, { ...notice, ...numbers, category: 'campaigns' })
    await ask(core, { ...notice, category: 'shared', percent: 100, limit: 1_000, used: 1_000 })
    await writeMail(core)
    const mails = await mailTo(core, shop.ownerAddress)
    assert.deepEqual(mails.map(({ subject }) => subject).sort(), [
      'Shop has reached its email limit',
      'Shop has used 80% of its email limit',
    ])
    const warning = mails.find(({ subject }) => subject.includes('80%'))
    assert.equal(
      warning?.text,
      'The project Shop at mail.shop.test has used 8,000 of 10,000 emails this month. The limit is for: emails of campaigns. At the limit, campaigns are paused. They can be resumed when the next month (UTC) begins or the limit is raised.\n',
    )
    const [german] = await mailTo(core, to)
    assert.match(german?.text ?? '', /diesen Monat 8\.000 von 10\.000 E-Mails/)
  })

  it('tells of no limit of a month that is over', async (t) => {
    const { core, shop } = await openMailer(t)
    const startsAt = monthOf(core.now() - 31 * DAY_MS)
    const notice = { projectId: shop.id, startsAt, category: 'inbound', limit: 1, used: 1 } as const
    await ask(core, { kind: 'usage-limit', percent: 100, ...notice })
    assert.equal(await writeMail(core), 1)
    assert.deepEqual(await mailTo(core, shop.ownerAddress), [])
  })

  it('escapes names, and parses none as a template', async (t) => {
    const { core, shop } = await openMailer(t)
    const name = '{{ html }} {% raw %} {email} <b>&\n'
    await core.store.write((tx) =>
      tx.update(projects).set({ name }).where(eq(projects.id, shop.id)),
    )
    const id = await invite(core, shop.id, shop.ownerId)
    await ask(core, { kind: 'invitation', invitationId: id })
    await writeMail(core)
    const [mail] = await mailTo(core, 'new@people.test')
    assert.ok(mail)
    assert.equal(mail.subject, 'Invitation to {{ html }} {% raw %} {email} <b>&')
    assert.match(
      mail.html,
      /<strong>\{\{ html \}\} \{% raw %\} \{email\} &lt;b&gt;&amp;\n<\/strong>/,
    )
    const message = (await composed(core, mail.email.id)).toString('latin1')
    assert.ok(message.includes(`Subject: ${mail.subject}`))
    assert.ok(message.replaceAll('\r\n', '\n').includes(mail.html.trim().slice(0, 200)))
    assert.equal(mail.email.subject, mail.subject)
  })

  it('writes every kind in every language, with each link as it is', async (t) => {
    const { core, shop } = await openMailer(t)
    for (const language of LANGUAGES) {
      const { id, address: to } = await addUser(core, { language, verifiedAt: null })
      const invitationId = await invite(core, shop.id, id, to)
      await ask(core, { kind: 'verify-email', userId: id })
      await ask(core, { kind: 'reset-password', address: to })
      await ask(core, { kind: 'invitation', invitationId })
      await writeMail(core)
      const mails = await mailTo(core, to)
      const { verify, reset } = textsOf(language).mail
      assert.equal(mails.length, 3, language)
      const subjects = mails.map(({ subject }) => subject)
      assert.ok(subjects.includes(verify.subject) && subjects.includes(reset.subject), language)
      for (const { text, html, link } of mails) {
        assert.match(link, /^https:\/\/mail\.shop\.test\/(?:auth|invitations)\//)
        assert.equal(html.split(`"${link}"`).length, 3)
        assert.doesNotMatch(text + html, /[{}]|undefined/)
      }
    }
  })

  it('never subscribes anybody, and keeps the wish of a contact that has one', async (t) => {
    const { core, mail } = await openMailer(t)
    for (const subscribed of [true, false]) {
      const { id, address: to } = await addUser(core, { verifiedAt: null })
      await upsertContact(core, { projectId: mail.id, address: address(to), subscribed })
      await ask(core, { kind: 'verify-email', userId: id })
      await writeMail(core)
      const contact = await core.store.read
        .select()
        .from(contacts)
        .where(eq(contacts.address, to))
        .get()
      assert.deepEqual([contact?.subscribed, contact?.data], [subscribed, null])
    }
  })

  it('lets a complaint stop what nobody asked for', async (t) => {
    const { core, mail, shop } = await openMailer(t)
    const at = core.now()
    const by = { reason: 'COMPLAINT', source: 'test', emailId: null, at } as const
    await core.store.write((tx) =>
      suppress(tx, { projectId: mail.id, address: shop.ownerAddress, ...by }),
    )
    await ask(core, { kind: 'domain-lost', projectId: shop.id, domain: 'shop.test' })
    await ask(core, { kind: 'reset-password', address: shop.ownerAddress })
    await writeMail(core)
    const mails = await mailTo(core, shop.ownerAddress)
    assert.deepEqual(mails.map(({ email }) => email.state).sort(), ['queued', 'suppressed'])
  })
})

describe('a mail job', () => {
  const claim = async (core: TestCore) => {
    const now = core.now()
    const limits = { kinds: [PLATFORM_MAIL_KIND], limit: 1, now, leaseUntil: now + 60_000 }
    const [job] = await core.store.write((tx) => claimJobs(tx, limits))
    assert.ok(job)
    return { ...job, signal: new AbortController().signal }
  }

  it('writes its mail once, even if it runs twice', async (t) => {
    const { core } = await openMailer(t)
    const { id, address: to } = await addUser(core, { verifiedAt: null })
    await ask(core, { kind: 'verify-email', userId: id })
    const job = await claim(core)
    await sendPlatformMail(core, job)
    await sendPlatformMail(core, job)
    assert.equal((await mailTo(core, to)).length, 1)
  })

  it('writes nothing once it has lost its lease', async (t) => {
    const { core } = await openMailer(t)
    const { id } = await addUser(core, { verifiedAt: null })
    await ask(core, { kind: 'verify-email', userId: id })
    const job = await claim(core)
    await assert.rejects(sendPlatformMail(core, { ...job, leaseId: newId() }), /lease/)
    assert.equal(await core.store.read.$count(emails), 0)
    await sendPlatformMail(core, job)
    assert.equal(await core.store.read.$count(emails), 1)
  })

  it('fails while the mail project cannot send, and /health says so until it can', async (t) => {
    const { core, mail } = await openMailer(t)
    const { id, address: to } = await addUser(core, { verifiedAt: null })
    await ask(core, { kind: 'verify-email', userId: id })
    const job = await claim(core)
    await updateProject(core, mail.id, { disable: 'MANUAL' })
    const reason = /The project "Mail" of accounts\.mail_project is disabled, so the server cannot/
    await assert.rejects(sendPlatformMail(core, job), reason)
    assert.match(core.health.reasons()[0]?.reason ?? '', reason)
    await updateProject(core, mail.id, { enable: true })
    const check = createSchedule(core).handlers['check-platform-mail']
    assert.equal(await check?.(job as never), undefined, 'a job keeps its result for days')
    assert.deepEqual(core.health.reasons(), [])
    await sendPlatformMail(core, job)
    assert.equal((await mailTo(core, to)).length, 1)
  })

  it('is dropped where the server mails nobody', async (t) => {
    const core = await openTestCore(t, { settings: { PILLARBOX_DELIVERY__MODE: 'direct' } })
    const { address: to } = await addUser(core)
    await ask(core, { kind: 'reset-password', address: to })
    assert.equal(await writeMail(core), 1)
    assert.equal(await core.store.read.$count(emails), 0)
  })

  it('does not outlive its user', async (t) => {
    const { core } = await openMailer(t)
    const { id } = await addUser(core, { verifiedAt: null })
    await ask(core, { kind: 'verify-email', userId: id })
    await core.store.write((tx) => tx.delete(users).where(eq(users.id, id)))
    assert.equal(await writeMail(core), 1)
    assert.equal(await core.store.read.$count(emails), 0)
  })
})

describe('the sender of that mail', () => {
  it('is the first verified domain, unless accounts.mail_from names another', async (t) => {
    const { core, mail } = await openMailer(t)
    core.clock.now += 1
    const second = await trustDomain(core, mail.id, 'second.test')
    const from = async () => {
      const sender = await judgeSender(core)
      return sender.kind === 'usable'
        ? [sender.from.name, sender.from.address.address]
        : sender.kind
    }
    assert.deepEqual(await from(), ['Pillarbox', 'accounts@example.test'])
    core.config.accounts.mailFrom = 'Shop Mail <people@second.test>'
    assert.deepEqual(await from(), ['Shop Mail', 'people@second.test'])
    core.config.accounts.mailFrom = 'people@second.test'
    assert.deepEqual(await from(), ['Pillarbox', 'people@second.test'])
    await core.store.write(async (tx) => {
      tx.afterCommit(core.directory.drop)
      await tx.update(domains).set({ isVerified: false }).where(eq(domains.id, second))
    })
    assert.equal(await from(), 'unusable')
  })

  it('is the sandbox project in sandbox mode, if there is one', async (t) => {
    const core = await openTestCore(t)
    assert.deepEqual(await judgeSender(core), { kind: 'none' })
    const { id } = await addProject(core, 'Sandbox')
    await trustDomain(core, id, 'example.test')
    const sender = await judgeSender(core)
    assert.ok(sender.kind === 'usable')
    assert.equal(sender.project.id, id)
  })
})
