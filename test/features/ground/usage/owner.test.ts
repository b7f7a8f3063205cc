/** The free emails of a month belong to the owner, not to the project, which costs nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countUsage } from '../../../../src/features/ground/usage/count.ts'
import { acceptMessage } from '../../../../src/features/mail/messages/accept/accept-message.ts'
import { deleteProject } from '../../../../src/features/operation/erasure/end-project.ts'
import { addMember, handOver } from '../../../../src/features/tenancy/accounts/members/members.ts'
import { makeKeys } from '../../../../src/features/tenancy/accounts/projects/keys.ts'
import { insertProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { showLimits } from '../../../../src/features/tenancy/billing/limits.ts'
import type { Tx } from '../../../../src/store/write/transaction.ts'
import { address, type TestCore, trustDomain } from '../../../core.ts'
import { addUser } from '../../../session.ts'
import { findProject, openLimited, setColumns, withStripe } from './usage.ts'

const FREE = 10

async function open(t: Parameters<typeof openLimited>[0]) {
  const opened = await openLimited(t, {}, { configure: withStripe(FREE) })
  const { core, project } = opened
  const own = async (name: string, ownerId = project.ownerId) => {
    const id = await core.store.write((tx) =>
      insertProject(tx, { name, ownerId, keys: makeKeys(), areKeysSandbox: false, at: core.now() }),
    )
    await trustDomain(core, id, `${name}.test`)
    return id
  }
  const send = (projectId: string, name: string, count: number) =>
    sendFrom(core, { projectId, from: `shop@${name}.test`, count })
  return { core, project, own, send, first: (count: number) => opened.send(count) }
}

let sent = 0
async function sendFrom(
  core: TestCore,
  { projectId, from, count }: { projectId: string; from: string; count: number },
) {
  const to = Array.from({ length: count }, () => {
    sent += 1
    return { address: address(`o${sent}@people.test`), name: null }
  })
  return acceptMessage(core, {
    project: await findProject(core, projectId),
    request: { to, from: { address: address(from), name: null }, subject: 'Hi', body: 'Hi' },
  })
}

const refusedAt = (used: number) => ({
  code: 'BILLING_LIMIT_EXCEEDED',
  message: `All projects of an owner without a subscription have ${FREE} emails a month together (billing.free_emails), and have used ${used}.`,
})

describe('S37: the free emails of a month', () => {
  it('are those of all projects of an owner together, and of no other owner', async (t) => {
    const { core, own, send, first, project } = await open(t)
    const second = await own('second')
    await first(6)
    await assert.rejects(send(second, 'second', 5), refusedAt(6))
    await send(second, 'second', 4)
    await assert.rejects(first(1), refusedAt(10))
    for (const id of [second, project.id]) {
      const { transactional } = await showLimits(core, id)
      assert.deepEqual([transactional.limit, transactional.usage], [FREE, 10])
    }
    const stranger = await own('stranger', (await addUser(core)).id)
    await send(stranger, 'stranger', 10)
  })

  it('come back neither with a deleted project nor with a new one', async (t) => {
    const { core, own, send, first } = await open(t)
    const second = await own('second')
    await send(second, 'second', 7)
    await deleteProject(core, second)
    await assert.rejects(first(4), refusedAt(7))
    await first(2)
    const third = await own('third')
    await send(third, 'third', 1)
    await deleteProject(core, third)
    await assert.rejects(first(1), refusedAt(10))
    core.clock.now += 31 * 24 * 60 * 60_000
    await first(10)
  })

  it('move with a project that is handed over', async (t) => {
    const { core, own, send, first } = await open(t)
    const second = await own('second')
    await send(second, 'second', 8)
    const heir = await addUser(core)
    await addMember(core, { projectId: second, email: heir.address, role: 'ADMIN' })
    await handOver(core, { projectId: second, userId: heir.id })
    await first(10)
    const heirs = await own('heirs', heir.id)
    await assert.rejects(send(heirs, 'heirs', 3), refusedAt(8))
  })

  it('are not used by a project with a subscription, whose mail is charged', async (t) => {
    const { core, own, send, first } = await open(t)
    const paid = await own('paid')
    await setColumns(core, paid, { subscription: 'sub_1' })
    await send(paid, 'paid', 20)
    await first(10)
    await deleteProject(core, paid)
    await assert.rejects(first(1), refusedAt(10))
  })

  it('cost an accepted email no statement more, however many projects there are', async (t) => {
    const { core, own, first } = await open(t)
    await first(1)
    const counts: number[] = []
    const countOne = async () => {
      const project = await findProject(core, await own(`p${counts.length}`))
      let statements = 0
      await core.store.write(async (tx) => {
        const counting = (target: Tx, name: string | symbol) => {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          if (name === 'find' || name === 'execute') statements += 1
          return value.bind(target)
        }
        const counted = { project, category: 'transactional', count: 1, at: core.now() } as const
        await countUsage(core, new Proxy(tx, { get: counting }), counted)
      })
      counts.push(statements)
    }
    for (let index = 0; index < 5; index += 1) await countOne()
    assert.deepEqual(counts, [3, 3, 3, 3, 3])
  })
})
