/** Invitations: whom they admit, when they end, and how many there can be. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { acceptInvitation } from '../../../../../src/features/tenancy/accounts/invitations/accept.ts'
import {
  INVITATIONS,
  inviteMember,
} from '../../../../../src/features/tenancy/accounts/invitations/invite.ts'
import { listInvitations } from '../../../../../src/features/tenancy/accounts/invitations/open.ts'
import { revokeInvitation } from '../../../../../src/features/tenancy/accounts/invitations/revoke.ts'
import { digestLinkToken } from '../../../../../src/features/tenancy/accounts/links/link-tokens.ts'
import {
  changeRole,
  deleteMember,
  handOver,
  listMembers,
} from '../../../../../src/features/tenancy/accounts/members/members.ts'
import { isPassword } from '../../../../../src/features/tenancy/accounts/passwords/passwords.ts'
import { PLATFORM_MAIL_KIND } from '../../../../../src/features/tenancy/accounts/platform-mail/enqueue.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { findSession } from '../../../../../src/features/tenancy/accounts/sessions/find.ts'
import { asc, eq } from '../../../../../src/store/drizzle.ts'
import { invitations, projects, sessions, users } from '../../../../../src/store/schema/accounts.ts'
import { jobs } from '../../../../../src/store/schema/jobs.ts'
import { deleteExpired } from '../../../../../src/work/retention.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../../core.ts'
import { addMember as addRow, addUser } from '../../../../session.ts'

const ADDRESS = 'new@people.test'
const NOT_OPEN = 'This invitation was used or revoked, or it has expired.'
const client = { ip: '192.0.2.9', userAgent: 'test' }
const { signal } = new AbortController()
const password = 'long enough'

type Stage = Awaited<ReturnType<typeof open>>

async function open(t: TestContext, { mode = 'direct' }: { mode?: 'direct' | 'sandbox' } = {}) {
  const core = await openTestCore(t, { settings: { PILLARBOX_DELIVERY__MODE: mode } })
  const project = await addProject(core)
  if (mode === 'sandbox') await trustDomain(core, project.id, 'example.test')
  const invite = async (address = ADDRESS, actorId = project.ownerId) => {
    const input = { projectId: project.id, address, role: 'ADMIN' as const, actorId }
    const invited = await inviteMember(core, input)
    return invited
  }
  const tokenOf = async (address?: string, actorId?: string) => {
    const { url = '' } = await invite(address, actorId)
    return url.split('/').at(-1) ?? ''
  }
  return { core, project, projectId: project.id, invite, tokenOf }
}

const accept = (
  core: TestCore,
  token: string,
  change: Partial<Parameters<typeof acceptInvitation>[1]> = {},
) =>
  acceptInvitation(core, {
    ...{ token, user: undefined, password, language: 'en', client, signal },
    wideNetwork: '192.0.2.0/24',
    ...change,
  })

const rolesOf = async ({ core, projectId }: Pick<Stage, 'core' | 'projectId'>) =>
  (await listMembers(core, projectId)).map(({ email, role }) => [email, role])

async function userOf(core: TestCore, address = ADDRESS) {
  return core.store.read.select().from(users).where(eq(users.address, address)).get()
}

const refused = { code: 'BAD_REQUEST', message: NOT_OPEN }

describe('an invitation', () => {
  it('without platform mail gives its link to the inviter, from base_url, and stores its digest', async (t) => {
    const { core, projectId, invite } = await open(t)
    const invited = await invite()
    const { url = '', ...others } = invited
    assert.deepEqual(others, { invited: true, email: ADDRESS, role: 'ADMIN' })
    assert.ok(url.startsWith(`${core.config.baseUrl}/invitations/`), url)
    const token = url.split('/').at(-1) ?? ''
    assert.match(token, /^[0-9a-f]{64}$/)
    const row = await core.store.read.select().from(invitations).get()
    assert.equal(row?.digest, digestLinkToken(token))
    assert.equal(row?.isMailed, false)
    assert.equal(JSON.stringify(row).includes(token), false)
    assert.equal(await core.store.read.$count(jobs, eq(jobs.kind, PLATFORM_MAIL_KIND)), 0)
    const [listed] = await listInvitations(core, projectId)
    assert.equal(JSON.stringify(listed).includes(token), false)
    assert.equal(Date.parse(listed?.expiresAt ?? '') - core.now(), 7 * DAY_MS)
  })

  it('with platform mail is mailed: the answer has no link, and no token exists yet', async (t) => {
    const { core, invite } = await open(t, { mode: 'sandbox' })
    assert.deepEqual(await invite(), { invited: true, email: ADDRESS, role: 'ADMIN' })
    const row = await core.store.read.select().from(invitations).get()
    assert.deepEqual([row?.digest, row?.isMailed], [null, true])
    const job = await core.store.read.select().from(jobs).get()
    assert.deepEqual(job?.payload, { kind: 'invitation', invitationId: row?.id })
  })

  for (const mode of ['direct', 'sandbox'] as const) {
    it(`S26: is answered alike for people with and without an account, and begins no membership (${mode})`, async (t) => {
      const { core, projectId, project, invite } = await open(t, { mode })
      await addUser(core, { address: 'proven@people.test' })
      await addUser(core, { address: 'squatted@people.test', verifiedAt: null })
      const addresses = ['proven@people.test', 'squatted@people.test', 'nobody@people.test']
      for (const address of [...addresses, ...addresses]) {
        const { url, ...answer } = await invite(address)
        assert.deepEqual(answer, { invited: true, email: address, role: 'ADMIN' })
        assert.equal(url === undefined, mode === 'sandbox')
      }
      assert.deepEqual(await rolesOf({ core, projectId }), [[project.ownerAddress, 'OWNER']])
      assert.equal((await listInvitations(core, projectId)).length, 3)
    })
  }

  it('to a member of the project is refused: admins see the members anyway', async (t) => {
    const { core, projectId, invite } = await open(t)
    const { id: userId } = await addUser(core, { address: ADDRESS, verifiedAt: null })
    await addRow(core, { projectId, userId, role: 'MEMBER' })
    await assert.rejects(invite(), { code: 'CONFLICT' })
    assert.deepEqual(await listInvitations(core, projectId), [])
  })

  for (const [mode, most] of [
    ['direct', 10],
    ['sandbox', 3],
  ] as const) {
    it(`S26: of ten to one address at the same time only the newest stays open (${mode})`, async (t) => {
      const stage = await open(t, { mode })
      const { core, projectId } = stage
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => stage.invite()))
      const invited = results.filter(({ status }) => status === 'fulfilled')
      assert.equal(invited.length, most)
      const rows = await core.store.read.select().from(invitations).orderBy(asc(invitations.id))
      assert.deepEqual(
        rows.map(({ revokedAt }) => revokedAt === null),
        [...Array(most - 1).fill(false), true],
      )
      const listed = await listInvitations(core, projectId)
      assert.deepEqual(
        listed.map(({ id }) => id),
        [rows.at(-1)?.id],
      )
    })
  }

  it('makes the account of a newcomer, with the role, and begins a session', async (t) => {
    const stage = await open(t)
    const { core, projectId, project } = stage
    const accepted = await accept(core, await stage.tokenOf(), { language: 'pt' })
    assert.deepEqual([accepted.address, accepted.role], [ADDRESS, 'ADMIN'])
    const user = await userOf(core)
    assert.equal(user?.id, accepted.userId)
    assert.equal(user?.language, 'pt')
    assert.equal(user?.method, 'PASSWORD')
    assert.equal(user?.isOperator, false)
    assert.ok(await isPassword(password, user?.passwordHash ?? ''))
    const session = await findSession(core, accepted.cookies?.session.token ?? '')
    assert.equal(session?.user.id, accepted.userId)
    assert.deepEqual([session?.session.ip, session?.session.userAgent], ['192.0.2.9', 'test'])
    assert.deepEqual(await rolesOf({ core, projectId }), [
      [project.ownerAddress, 'OWNER'],
      [ADDRESS, 'ADMIN'],
    ])
    assert.deepEqual(await listInvitations(core, projectId), [])
  })

  it('S39: makes no account before the server has its first user', async (t) => {
    const { core, tokenOf, project } = await open(t)
    const token = await tokenOf()
    const mark = (isSandbox: boolean) =>
      core.store.write((tx) =>
        tx.update(users).set({ isSandbox }).where(eq(users.id, project.ownerId)),
      )
    await mark(true)
    await assert.rejects(accept(core, token), { code: 'CONFLICT', message: /not set up yet/ })
    assert.equal(await userOf(core), undefined)
    await mark(false)
    assert.equal((await accept(core, token)).address, ADDRESS)
  })

  for (const isMailed of [true, false]) {
    it(`${isMailed ? 'by mail verifies' : 'by hand does not verify'} the address`, async (t) => {
      const { core, tokenOf } = await open(t)
      for (const address of [ADDRESS, 'known@people.test']) {
        const token = await tokenOf(address)
        await core.store.write((tx) => tx.update(invitations).set({ isMailed }))
        const isKnown = address !== ADDRESS
        const user = isKnown ? await addUser(core, { address, verifiedAt: null }) : undefined
        await accept(core, token, { user })
        assert.equal((await userOf(core, address))?.verifiedAt, isMailed ? core.now() : null)
      }
    })
  }

  it('needs a password of a newcomer, and stays open when it is not good enough', async (t) => {
    const { core, projectId, tokenOf } = await open(t)
    const token = await tokenOf()
    for (const bad of [undefined, '', '12345', 'x'.repeat(1001)]) {
      await assert.rejects(accept(core, token, { password: bad }), { code: 'VALIDATION_ERROR' })
    }
    assert.equal(await userOf(core), undefined)
    assert.equal((await listInvitations(core, projectId)).length, 1)
    await accept(core, token)
  })

  it('never logs anybody in: an address with an account must have logged in', async (t) => {
    const stage = await open(t)
    const { core, tokenOf } = stage
    const token = await tokenOf()
    const user = await addUser(core, { address: ADDRESS })
    await assert.rejects(accept(core, token), {
      code: 'UNAUTHORIZED',
      message: 'The invited address has an account: log in first.',
    })
    assert.equal(await core.store.read.$count(sessions), 0)
    const accepted = await accept(core, token, { user })
    assert.equal(accepted.cookies, undefined)
    assert.equal(await core.store.read.$count(sessions), 0)
    assert.equal((await rolesOf(stage)).length, 2)
  })

  it('admits no other account, and stays open', async (t) => {
    const stage = await open(t)
    const { core, tokenOf, projectId } = stage
    const token = await tokenOf()
    const user = await addUser(core)
    await assert.rejects(accept(core, token, { user }), {
      code: 'FORBIDDEN',
      message: 'This invitation is for another email address.',
    })
    assert.equal((await rolesOf(stage)).length, 1)
    assert.equal((await listInvitations(core, projectId)).length, 1)
  })

  it('is accepted once, also by two requests at a time', async (t) => {
    const stage = await open(t)
    const { core, tokenOf } = stage
    const token = await tokenOf()
    const results = await Promise.allSettled([accept(core, token), accept(core, token)])
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    await assert.rejects(accept(core, token), refused)
    const user = await userOf(core)
    await assert.rejects(accept(core, token, { user }), refused)
    assert.equal((await rolesOf(stage)).length, 2)
    assert.equal(await core.store.read.$count(sessions), 1)
  })

  it('ends after 7 days', async (t) => {
    const { core, projectId, tokenOf } = await open(t)
    const token = await tokenOf()
    core.clock.now += 7 * DAY_MS
    await assert.rejects(accept(core, token), refused)
    assert.deepEqual(await listInvitations(core, projectId), [])
    core.clock.now -= 1
    await accept(core, token)
  })

  it('ends when it is revoked, by admins of its project only', async (t) => {
    const { core, projectId, project, tokenOf } = await open(t)
    const token = await tokenOf()
    const [{ id = '' } = {}] = await listInvitations(core, projectId)
    const member = await addUser(core)
    await addRow(core, { projectId, userId: member.id, role: 'MEMBER' })
    await assert.rejects(revokeInvitation(core, { projectId, id }, member.id), {
      code: 'FORBIDDEN',
    })
    const other = await addProject(core, 'Other')
    const byOther = revokeInvitation(core, { projectId: other.id, id }, other.ownerId)
    await assert.rejects(byOther, { code: 'RESOURCE_NOT_FOUND' })
    await revokeInvitation(core, { projectId, id }, project.ownerId)
    await assert.rejects(revokeInvitation(core, { projectId, id }, project.ownerId), {
      code: 'RESOURCE_NOT_FOUND',
    })
    await assert.rejects(accept(core, token), refused)
  })

  it('S16: ends when its inviter loses the role or the membership, for good', async (t) => {
    const { core, projectId, tokenOf } = await open(t)
    for (const loss of ['role', 'membership'] as const) {
      const admin = await addUser(core)
      const key = { projectId, userId: admin.id }
      await addRow(core, { ...key, role: 'ADMIN' })
      const token = await tokenOf(`${loss}@people.test`, admin.id)
      if (loss === 'role') await changeRole(core, key, { role: 'MEMBER' })
      else await deleteMember(core, key)
      await assert.rejects(accept(core, token), refused)
      if (loss === 'role') await changeRole(core, key, { role: 'ADMIN' })
      else await addRow(core, { ...key, role: 'ADMIN' })
      await assert.rejects(accept(core, token), refused)
    }
    assert.deepEqual(await listInvitations(core, projectId), [])
  })

  it('ends when its inviter is deleted, and outlives a hand-over', async (t) => {
    const { core, projectId, project, tokenOf } = await open(t)
    const admin = await addUser(core)
    await addRow(core, { projectId, userId: admin.id, role: 'ADMIN' })
    const lost = await tokenOf('lost@people.test', admin.id)
    await core.store.write((tx) => tx.delete(users).where(eq(users.id, admin.id)))
    await assert.rejects(accept(core, lost), refused)
    const heir = await addUser(core)
    await addRow(core, { projectId, userId: heir.id, role: 'MEMBER' })
    const kept = await tokenOf('kept@people.test', project.ownerId)
    await handOver(core, { projectId, userId: heir.id })
    await accept(core, kept)
  })

  it('that races with the demotion of its inviter adds no member afterwards', async (t) => {
    const stage = await open(t)
    const { core, projectId, tokenOf } = stage
    const admin = await addUser(core)
    const key = { projectId, userId: admin.id }
    await addRow(core, { ...key, role: 'ADMIN' })
    const token = await tokenOf(ADDRESS, admin.id)
    const user = await addUser(core, { address: ADDRESS })
    const [demotion, acceptance] = await Promise.allSettled([
      changeRole(core, key, { role: 'MEMBER' }),
      accept(core, token, { user }),
    ])
    assert.equal(demotion.status, 'fulfilled')
    assert.equal(acceptance.status, 'rejected')
    assert.equal((await rolesOf(stage)).length, 2)
  })

  it('is not accepted while the project is disabled, nor once it is deleted', async (t) => {
    const { core, projectId, tokenOf } = await open(t)
    const token = await tokenOf()
    await updateProject(core, projectId, { disable: 'MANUAL' })
    await assert.rejects(accept(core, token), { code: 'PROJECT_DISABLED' })
    await updateProject(core, projectId, { enable: true })
    await core.store.write((tx) => tx.update(projects).set({ deletedAt: core.now() }))
    await assert.rejects(accept(core, token), refused)
    assert.equal(await userOf(core), undefined)
  })

  it('replaces an earlier one of the same address', async (t) => {
    const { core, projectId, tokenOf } = await open(t)
    const [first, second] = [await tokenOf(), await tokenOf()]
    assert.equal((await listInvitations(core, projectId)).length, 1)
    await assert.rejects(accept(core, first), refused)
    await accept(core, second)
  })

  it('has no other token: any other text opens nothing', async (t) => {
    const { core, tokenOf } = await open(t)
    const token = await tokenOf()
    const digest = digestLinkToken(token)
    for (const text of ['', 'x', token.toUpperCase(), `${token} `, digest, '0'.repeat(64)]) {
      await assert.rejects(accept(core, text), refused)
    }
  })

  it('is deleted 30 days after it was made', async (t) => {
    const { core, tokenOf } = await open(t)
    await tokenOf()
    core.clock.now += 30 * DAY_MS - 1
    await deleteExpired(core, INVITATIONS)
    assert.equal(await core.store.read.$count(invitations), 1)
    core.clock.now += 1
    await deleteExpired(core, INVITATIONS)
    assert.equal(await core.store.read.$count(invitations), 0)
  })
})

describe('S26: the number of invitations', () => {
  it('is 50 a day for a project, revoked ones too', async (t) => {
    const { core, projectId, project, invite } = await open(t)
    for (let index = 0; index < 50; index += 1) await invite(`person${index}@people.test`)
    const [{ id = '' } = {}] = await listInvitations(core, projectId)
    await revokeInvitation(core, { projectId, id }, project.ownerId)
    core.clock.now += HOUR_MS
    await assert.rejects(invite(), {
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 50, retryAfter: (23 * HOUR_MS) / 1000 },
    })
    const other = await addProject(core, 'Other')
    const theirs = { projectId: other.id, address: ADDRESS, role: 'MEMBER' as const }
    await inviteMember(core, { ...theirs, actorId: other.ownerId })
    core.clock.now += 23 * HOUR_MS
    await invite()
  })

  it('by mail is 3 an hour to an address, and the open one stays as it was', async (t) => {
    const { core, projectId, invite } = await open(t, { mode: 'sandbox' })
    for (let index = 0; index < 3; index += 1) await invite()
    const before = await listInvitations(core, projectId)
    core.clock.now += 10 * MINUTE_MS
    await assert.rejects(invite(), {
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 3, retryAfter: 50 * 60 },
    })
    assert.deepEqual(await listInvitations(core, projectId), before)
    assert.equal(await core.store.read.$count(jobs, eq(jobs.kind, PLATFORM_MAIL_KIND)), 3)
    await invite('another@people.test')
    core.clock.now += 50 * MINUTE_MS
    await invite()
  })

  it('by mail is 10 a day to an address from all projects together', async (t) => {
    const { core } = await open(t, { mode: 'sandbox' })
    const inviteBy = async (name: string) => {
      const { id, ownerId } = await addProject(core, name)
      const input = { projectId: id, address: ADDRESS, role: 'MEMBER' as const, actorId: ownerId }
      return inviteMember(core, input)
    }
    for (let index = 0; index < 10; index += 1) await inviteBy(`Project ${index}`)
    await assert.rejects(inviteBy('One more'), { code: 'RATE_LIMIT_EXCEEDED' })
    assert.equal(await core.store.read.$count(jobs, eq(jobs.kind, PLATFORM_MAIL_KIND)), 10)
  })
})
