/** Addresses that nothing proves: what their accounts get, and that the code asks in one place. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { acceptInvitation } from '../../../../../src/features/tenancy/accounts/invitations/accept.ts'
import { inviteMember } from '../../../../../src/features/tenancy/accounts/invitations/invite.ts'
import { findInvitationView } from '../../../../../src/features/tenancy/accounts/invitations/show.ts'
import {
  addMember,
  deleteMember,
  findMemberAddresses,
  handOver,
  listMembers,
} from '../../../../../src/features/tenancy/accounts/members/members.ts'
import {
  createOwnProject,
  createProjectLimit,
} from '../../../../../src/features/tenancy/accounts/projects/own-projects.ts'
import { createProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import {
  describeSelf,
  listUsers,
  setOperator,
  verifyUser,
} from '../../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { invitations, users } from '../../../../../src/store/schema/accounts.ts'
import { addProject, openTestCore, type TestCore, type TestProject } from '../../../../core.ts'
import { addMember as addRow, addUser } from '../../../../session.ts'

const VICTIM = 'victim@people.test'
const SRC = path.join(import.meta.dirname, '../../../../../src')
const client = { ip: '192.0.2.9', userAgent: 'test' }
const { signal } = new AbortController()

type Stage = { core: TestCore; project: TestProject; other: TestProject; userId: string }

async function invite(core: TestCore, { id: projectId, ownerId: actorId }: TestProject) {
  const input = { projectId, address: VICTIM, role: 'MEMBER' as const, actorId }
  const { url = '' } = await inviteMember(core, input)
  return url.split('/').at(-1) ?? ''
}

async function accept(core: TestCore, token: string, userId?: string) {
  const user = userId === undefined ? undefined : { id: userId, address: VICTIM }
  const given = { token, user, password: 'a password', language: 'en', client, signal }
  return acceptInvitation(core, { ...given, wideNetwork: '192.0.2.0/24' })
}

/** An admin made an account of somebody else's address, on a server without mail. */
async function open(t: TestContext): Promise<Stage> {
  const core = await openTestCore(t, { settings: { PILLARBOX_DELIVERY__MODE: 'direct' } })
  const project = await addProject(core)
  const other = await addProject(core, 'Other')
  const { userId } = await accept(core, await invite(core, project))
  return { core, project, other, userId }
}

function makeOwn(core: TestCore, id: string) {
  const deps = { ...core, limit: createProjectLimit(core.now) }
  return createOwnProject(deps, { user: { id, isOperator: false }, name: 'Mine' })
}

const isRefused = (code: string) => ({ code })

describe('S32: an account that an invitation without mail made', () => {
  it('belongs to the project of the invitation only', async (t) => {
    const { core, project, other, userId } = await open(t)
    const token = await invite(core, other)
    await assert.rejects(accept(core, token, userId), isRefused('EMAIL_VERIFICATION_REQUIRED'))
    await assert.rejects(makeOwn(core, userId), isRefused('EMAIL_VERIFICATION_REQUIRED'))
    assert.equal((await listMembers(core, other.id)).length, 1)
    assert.equal((await listMembers(core, project.id)).length, 2)
    const user = await core.store.read.select().from(users).where(eq(users.id, userId)).get()
    const shown = await findInvitationView(core, token, user)
    assert.equal(shown?.state === 'open' && shown.reader, 'bound')
  })

  it('gets nothing by its address from commands either', async (t) => {
    const { core, project, other, userId } = await open(t)
    const acts = {
      'member add': () => addMember(core, { projectId: other.id, email: VICTIM, role: 'ADMIN' }),
      'member role OWNER': () => handOver(core, { projectId: project.id, userId }),
      'project create': () => createProject(core, { name: 'Theirs', ownerAddress: VICTIM }),
      'user operator': () => setOperator(core, { email: VICTIM, isOperator: true }),
    }
    for (const [name, act] of Object.entries(acts)) {
      await assert.rejects(act(), isRefused('CONFLICT'), name)
    }
    assert.equal((await listMembers(core, other.id)).length, 1)
    const [user] = (await listUsers(core)).filter(({ email }) => email === VICTIM)
    assert.equal(user?.isOperator, false)
  })

  it('says so to its user, to the members and to the operator', async (t) => {
    const { core, project, userId } = await open(t)
    const said = { emailVerified: false, onlyProjectId: project.id }
    const { emailVerified, onlyProjectId } = await describeSelf(core, userId)
    assert.deepEqual({ emailVerified, onlyProjectId }, said)
    const listed = (await listUsers(core)).find(({ id }) => id === userId)
    assert.deepEqual([listed?.emailVerified, listed?.onlyProjectId], [false, project.id])
    const member = (await listMembers(core, project.id)).find((each) => each.userId === userId)
    assert.equal(member?.emailVerified, false)
  })

  it('is not a member to whom tests of campaigns may go', async (t) => {
    const { core, project } = await open(t)
    const members = await findMemberAddresses(core, project.id, [VICTIM, project.ownerAddress])
    assert.deepEqual([...members], [project.ownerAddress])
  })

  it('is like any other once its address is verified', async (t) => {
    const { core, project, other, userId } = await open(t)
    await verifyUser(core, { email: VICTIM, isVerified: true })
    await accept(core, await invite(core, other), userId)
    await makeOwn(core, userId)
    await handOver(core, { projectId: project.id, userId })
    assert.equal((await describeSelf(core, userId)).onlyProjectId, null)
  })

  it('is verified by an invitation that was mailed to the address, and joins', async (t) => {
    const { core, other, userId } = await open(t)
    const token = await invite(core, other)
    const isOthers = eq(invitations.projectId, other.id)
    await core.store.write((tx) => tx.update(invitations).set({ isMailed: true }).where(isOthers))
    await accept(core, token, userId)
    assert.equal((await describeSelf(core, userId)).emailVerified, true)
    assert.equal((await listMembers(core, other.id)).length, 2)
  })

  it('rejoins its own project after it was removed', async (t) => {
    const { core, project, userId } = await open(t)
    await core.store.write((tx) => tx.delete(invitations))
    await deleteMember(core, { projectId: project.id, userId }, project.ownerId)
    await accept(core, await invite(core, project), userId)
    assert.equal((await listMembers(core, project.id)).length, 2)
  })
})

describe('S32: a sign-up that proved nothing', () => {
  it('joins by an invitation that its user holds, and by nothing else', async (t) => {
    const { core, other } = await open(t)
    await core.store.write((tx) => tx.delete(users).where(eq(users.address, VICTIM)))
    const { id } = await addUser(core, { address: VICTIM, verifiedAt: null })
    const email = { projectId: other.id, email: VICTIM, role: 'MEMBER' as const }
    await assert.rejects(addMember(core, email), isRefused('CONFLICT'))
    await makeOwn(core, id)
    await accept(core, await invite(core, other), id)
    assert.equal((await listMembers(core, other.id)).length, 2)
  })

  it('has its proof taken back by the operator', async (t) => {
    const { core, project } = await open(t)
    const { id, address: email } = await addUser(core)
    await addRow(core, { projectId: project.id, userId: id, role: 'ADMIN' })
    await verifyUser(core, { email, isVerified: false })
    await assert.rejects(handOver(core, { projectId: project.id, userId: id }), {
      code: 'CONFLICT',
      suggestion: `If you know that the account belongs to the owner of the address: pillarbox user verify --email ${email}`,
    })
  })
})

describe('S32: the code', () => {
  it('reads the proof of a user in one file', async () => {
    const readers = ['features/tenancy/accounts/users/proof.ts']
    // A column of the schema and its comment, of an insert, and of queries whose rows `proof.ts` judges.
    const carriers = [
      'store/schema/accounts.ts',
      'store/schema/docs.ts',
      'features/tenancy/accounts/users/users.ts',
      'features/tenancy/accounts/callers/caller.ts',
      'features/tenancy/accounts/sessions/find.ts',
      'features/tenancy/accounts/members/members.ts',
      'features/tenancy/accounts/platform-mail/sender.ts',
      'features/tenancy/accounts/invitations/show.ts',
      'features/tenancy/accounts/sign-up/verify-address.ts',
    ]
    const found: string[] = []
    for (const entry of await readdir(SRC, { recursive: true })) {
      if (!entry.endsWith('.ts')) continue
      const text = await readFile(path.join(SRC, entry), 'utf8')
      if (/\bverifiedAt\b|users\.verified_at/.test(text)) found.push(entry)
      if (readers.includes(entry)) continue
      assert.doesNotMatch(
        text,
        /\bverifiedAt (?:[!=]==|\?)|isN(?:otN)?ull\(users\.verifiedAt/,
        entry,
      )
    }
    assert.deepEqual(found.sort(), [...readers, ...carriers].sort())
  })
})
