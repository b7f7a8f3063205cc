/** Members of a project: the rules of roles, also when several act at a time. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  insertInvitation,
  inviteMember,
} from '../../../../../src/features/tenancy/accounts/invitations/invite.ts'
import { listInvitations } from '../../../../../src/features/tenancy/accounts/invitations/open.ts'
import {
  addMember,
  changeRole,
  deleteMember,
  handOver,
  listMembers,
} from '../../../../../src/features/tenancy/accounts/members/members.ts'
import {
  changeSettings,
  regenerateOwnKeys,
} from '../../../../../src/features/tenancy/accounts/projects/own-projects.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import type { Role } from '../../../../../src/store/schema/words.ts'
import { addProject, openTestCore, type TestCore } from '../../../../core.ts'
import { addMember as addRow, addUser } from '../../../../session.ts'

async function open(t: TestContext) {
  const core = await openTestCore(t, { settings: { PILLARBOX_DELIVERY__MODE: 'direct' } })
  const project = await addProject(core)
  const other = await addProject(core, 'Other')
  const join = async (role: Role, projectId = project.id) => {
    const user = await addUser(core)
    core.clock.now += 1
    await addRow(core, { projectId, userId: user.id, role })
    return user
  }
  return { core, project, other, projectId: project.id, join }
}

async function rolesOf(core: TestCore, projectId: string): Promise<Record<string, Role>> {
  const members = await listMembers(core, projectId)
  return Object.fromEntries(members.map(({ userId, role }) => [userId, role]))
}

const codesOf = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? 'ok' : result.reason.code))

describe('the members of a project', () => {
  it('are listed oldest first, and those of other projects are not', async (t) => {
    const { core, project, projectId, other, join } = await open(t)
    const [ann, bob] = [await join('ADMIN'), await join('MEMBER')]
    await join('MEMBER', other.id)
    const listed = await listMembers(core, projectId)
    assert.deepEqual(
      listed.map(({ userId, email, role }) => [userId, email, role]),
      [
        [project.ownerId, project.ownerAddress, 'OWNER'],
        [ann.id, ann.address, 'ADMIN'],
        [bob.id, bob.address, 'MEMBER'],
      ],
    )
    assert.match(listed[0]?.createdAt ?? '', /^\d{4}-.*Z$/)
  })

  it('are added by a command, in no letter case in particular, and only once', async (t) => {
    const { core, projectId } = await open(t)
    const { id, address } = await addUser(core)
    const member = { userId: id, email: address, role: 'MEMBER' }
    const input = { projectId, email: ` ${address.toUpperCase()}`, role: 'MEMBER' as const }
    assert.deepEqual(await addMember(core, input), member)
    await assert.rejects(addMember(core, { ...input, role: 'ADMIN' }), {
      code: 'CONFLICT',
      message: 'This user is already a member of the project.',
    })
    assert.equal((await rolesOf(core, projectId))[id], 'MEMBER')
  })

  it('of a project that was deleted meanwhile stay as they are, for the command line too', async (t) => {
    const { core, projectId, project, join } = await open(t)
    const member = await join('ADMIN')
    const { address: email } = await addUser(core)
    await core.store.write((tx) =>
      tx.update(projects).set({ deletedAt: core.now() }).where(eq(projects.id, projectId)),
    )
    const before = await rolesOf(core, projectId)
    const key = { projectId, userId: member.id }
    const acts = [
      () => addMember(core, { projectId, email, role: 'ADMIN' }),
      () => changeRole(core, key, { role: 'MEMBER' }),
      () => changeRole(core, key, { role: 'MEMBER', actorId: project.ownerId }),
      () => deleteMember(core, key),
      () => deleteMember(core, key, project.ownerId),
      () => handOver(core, key),
    ]
    for (const act of acts) await assert.rejects(act(), { code: 'RESOURCE_NOT_FOUND' })
    assert.deepEqual(await rolesOf(core, projectId), before)
  })

  it('are added once when two commands add the same user at a time', async (t) => {
    const { core, projectId } = await open(t)
    const { address: email } = await addUser(core)
    const results = await Promise.allSettled(
      [1, 2].map(() => addMember(core, { projectId, email, role: 'MEMBER' })),
    )
    assert.deepEqual(codesOf(results).sort(), ['CONFLICT', 'ok'])
  })

  it('do nothing beyond their role, even if the request was admitted before', async (t) => {
    const { core, projectId, join } = await open(t)
    const [member, stranger, target] = [
      await join('MEMBER'),
      await addUser(core),
      await join('MEMBER'),
    ]
    const before = await rolesOf(core, projectId)
    const key = { projectId, userId: target.id }
    const attempts = (actorId: string) => [
      inviteMember(core, { projectId, address: 'new@people.test', role: 'MEMBER', actorId }),
      changeRole(core, key, { role: 'ADMIN', actorId }),
      deleteMember(core, key, actorId),
      changeSettings(core, { projectId, userId: actorId }, { name: 'Mine' }),
      regenerateOwnKeys(core, { projectId, userId: actorId }),
    ]
    const low = codesOf(await Promise.allSettled(attempts(member.id)))
    assert.deepEqual(new Set(low), new Set(['FORBIDDEN']))
    const foreign = codesOf(await Promise.allSettled(attempts(stranger.id)))
    assert.deepEqual(new Set(foreign), new Set(['RESOURCE_NOT_FOUND']))
    assert.deepEqual(await rolesOf(core, projectId), before)
    assert.deepEqual(await listInvitations(core, projectId), [])
    assert.equal((await core.directory.findProject(projectId))?.name, 'Shop')
  })

  it('act in no project that was deleted', async (t) => {
    const { core, projectId, project } = await open(t)
    await core.store.write((tx) =>
      tx.update(projects).set({ deletedAt: core.now() }).where(eq(projects.id, projectId)),
    )
    const actor = { projectId, userId: project.ownerId }
    await assert.rejects(changeSettings(core, actor, { name: 'New' }), {
      code: 'RESOURCE_NOT_FOUND',
    })
  })

  it('S20: cannot be changed or removed through another project', async (t) => {
    const { core, projectId, other, join } = await open(t)
    const target = await join('ADMIN')
    const key = { projectId: other.id, userId: target.id }
    const byOther = other.ownerId
    await assert.rejects(deleteMember(core, key, byOther), { code: 'RESOURCE_NOT_FOUND' })
    await assert.rejects(changeRole(core, key, { role: 'MEMBER', actorId: byOther }), {
      code: 'RESOURCE_NOT_FOUND',
    })
    assert.equal((await rolesOf(core, projectId))[target.id], 'ADMIN')
  })

  it('keep their owner: nobody demotes or removes the owner, who cannot leave', async (t) => {
    const { core, projectId, project, join } = await open(t)
    const admin = await join('ADMIN')
    const owner = { projectId, userId: project.ownerId }
    for (const actorId of [admin.id, project.ownerId, undefined]) {
      await assert.rejects(
        changeRole(core, owner, { role: 'ADMIN', ...(actorId && { actorId }) }),
        {
          code: 'FORBIDDEN',
          message: 'The role of the owner cannot be changed.',
        },
      )
      await assert.rejects(deleteMember(core, owner, actorId), {
        code: 'FORBIDDEN',
        message: 'The owner of a project cannot be removed.',
      })
    }
    assert.deepEqual(Object.values(await rolesOf(core, projectId)), ['OWNER', 'ADMIN'])
  })

  it('leave by themselves, in any other role, and only their own project', async (t) => {
    const { core, projectId, other, join } = await open(t)
    for (const role of ['ADMIN', 'MEMBER'] as const) {
      const { id } = await join(role)
      await assert.rejects(deleteMember(core, { projectId: other.id, userId: id }, id), {
        code: 'RESOURCE_NOT_FOUND',
      })
      assert.equal((await deleteMember(core, { projectId, userId: id }, id)).role, role)
    }
    assert.deepEqual(Object.values(await rolesOf(core, projectId)), ['OWNER'])
  })

  it('two admins who remove each other at a time do not both succeed', async (t) => {
    const { core, projectId, join } = await open(t)
    const [ann, bob] = [await join('ADMIN'), await join('ADMIN')]
    const results = await Promise.allSettled([
      deleteMember(core, { projectId, userId: bob.id }, ann.id),
      deleteMember(core, { projectId, userId: ann.id }, bob.id),
    ])
    assert.deepEqual(codesOf(results), ['ok', 'RESOURCE_NOT_FOUND'])
    const demoted = await join('ADMIN')
    const races = await Promise.allSettled([
      changeRole(core, { projectId, userId: demoted.id }, { role: 'MEMBER', actorId: ann.id }),
      deleteMember(core, { projectId, userId: ann.id }, demoted.id),
    ])
    assert.deepEqual(codesOf(races), ['ok', 'FORBIDDEN'])
  })

  it('have one owner after a hand-over, whoever else acts meanwhile', async (t) => {
    const { core, projectId, project, join } = await open(t)
    const [ann, bob, admin] = [await join('ADMIN'), await join('MEMBER'), await join('ADMIN')]
    await Promise.allSettled([
      handOver(core, { projectId, userId: ann.id }),
      deleteMember(core, { projectId, userId: project.ownerId }, admin.id),
      handOver(core, { projectId, userId: bob.id }),
      changeRole(core, { projectId, userId: bob.id }, { role: 'MEMBER', actorId: admin.id }),
      deleteMember(core, { projectId, userId: ann.id }, admin.id),
    ])
    const roles = Object.values(await rolesOf(core, projectId))
    assert.equal(roles.filter((role) => role === 'OWNER').length, 1)
  })

  it('a hand-over makes the old owner an ADMIN, and needs a member', async (t) => {
    const { core, projectId, project, join } = await open(t)
    const [ann, stranger] = [await join('MEMBER'), await addUser(core)]
    await assert.rejects(handOver(core, { projectId, userId: stranger.id }), {
      code: 'RESOURCE_NOT_FOUND',
    })
    assert.equal((await handOver(core, { projectId, userId: ann.id })).role, 'OWNER')
    assert.deepEqual(await rolesOf(core, projectId), {
      [project.ownerId]: 'ADMIN',
      [ann.id]: 'OWNER',
    })
    await handOver(core, { projectId, userId: ann.id })
    assert.equal((await rolesOf(core, projectId))[ann.id], 'OWNER')
  })

  it('close the open invitation of their address', async (t) => {
    const { core, projectId, project } = await open(t)
    const address = 'late@people.test'
    await core.store.write((tx) =>
      insertInvitation(tx, {
        ...{ projectId, address, role: 'ADMIN', invitedBy: project.ownerId },
        ...{ digest: 'd', at: core.now() },
      }),
    )
    assert.equal((await listInvitations(core, projectId)).length, 1)
    await addUser(core, { address })
    await addMember(core, { projectId, email: address, role: 'MEMBER' })
    assert.deepEqual(await listInvitations(core, projectId), [])
  })
})
