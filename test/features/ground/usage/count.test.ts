import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { acceptOnce } from '../../../../src/features/mail/messages/accept/accept-message.ts'
import { createAcceptQueue } from '../../../../src/features/mail/messages/accept/accept-queue.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { idempotencyKeys } from '../../../../src/store/schema/service.ts'
import type { Store } from '../../../../src/store/store.ts'
import { addProject, address, type TestCore, trustDomain } from '../../../core.ts'
import { mailTo, writeMail } from '../../tenancy/accounts/platform-mail/mailed.ts'
import {
  findProject,
  follow,
  NOTHING,
  noticesOf,
  openLimited,
  setColumns,
  useOf,
  withStripe,
} from './usage.ts'

const MONTH_END = Date.UTC(2026, 11, 1)
const rowsOf = ({ store }: TestCore) => store.read.$count(emails)

/** Counts the runs of all closures. */
function countingRuns(core: TestCore) {
  const counted = { runs: 0 }
  const { write } = core.store
  const store: Store = {
    ...core.store,
    write: (fn, options) =>
      write((tx) => {
        counted.runs += 1
        return fn(tx)
      }, options),
  }
  return { counted, core: { ...core, store, acceptQueue: createAcceptQueue({ ...core, store }) } }
}

describe('a limit of transactional emails', () => {
  it('refuses what is over it, and a request is all or nothing', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 4 })
    await send(3)
    await assert.rejects(send(2), {
      code: 'BILLING_LIMIT_EXCEEDED',
      status: 402,
      smtp: '452 4.7.1',
      message: 'This project is limited to 4 transactional emails a month, and has used 3.',
      details: {
        ...{ category: 'transactional', limit: 4, used: 3 },
        resetsAt: '2026-12-01T00:00:00.000Z',
      },
      suggestion:
        'Nothing was sent. Raise the limit of the project, or wait for the next month: it begins at 2026-12-01 00:00:00Z.',
    })
    assert.equal(await rowsOf(core), 3)
    assert.equal(await core.store.read.$count(contacts), 3)
    await send(1)
    await assert.rejects(send(1), { code: 'BILLING_LIMIT_EXCEEDED' })
    assert.deepEqual(await useOf(core, project.id), { ...NOTHING, transactional: 4 })
  })

  it('lets exactly as many through of 200 sends at a time', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 100 })
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => send(1)))
    const refused = results.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 100)
    for (const { reason } of refused as PromiseRejectedResult[]) {
      assert.equal(reason.code, 'BILLING_LIMIT_EXCEEDED')
    }
    assert.equal(await rowsOf(core), 100)
    assert.equal((await useOf(core, project.id)).transactional, 100)
  })

  it('refuses without running the writes of others again', async (t) => {
    const opened = await openLimited(t, { limitTransactional: 5 })
    const { counted, core } = countingRuns(opened.core)
    const project = await findProject(core, opened.project.id)
    const { id } = await addProject(core, 'Other')
    await trustDomain(core, id, 'other.test')
    const other = await findProject(core, id)
    const before = counted.runs
    const sends = Array.from({ length: 60 }, (_, index) => {
      const input =
        index % 2 === 0
          ? { project, request: requestTo(index) }
          : { project: other, request: requestTo(index, 'a@other.test') }
      return acceptOnce(core, input, { idempotency: undefined, toResponseData: () => ({}) })
    })
    const results = await Promise.allSettled(sends)
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 25)
    // One run for all, and one for each request of the project with the limit.
    assert.equal(counted.runs - before, 31)
  })

  it('holds at once when it is set while a request is under way', async (t) => {
    const { core, project, send } = await openLimited(t)
    const stale = await findProject(core, project.id)
    await send(2, stale)
    await setColumns(core, project.id, { limitTransactional: 3 })
    await send(1, stale)
    await assert.rejects(send(1, stale), { code: 'BILLING_LIMIT_EXCEEDED' })
    await setColumns(core, project.id, { limitTransactional: 2 })
    await assert.rejects(send(1), {
      message: 'This project is limited to 2 transactional emails a month, and has used 3.',
    })
    const limited = await findProject(core, project.id)
    await setColumns(core, project.id, { limitTransactional: null })
    await send(5, limited)
    assert.equal((await useOf(core, project.id)).transactional, 8)
  })

  it('begins anew with the month, also within a burst', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 3 })
    core.clock.now = MONTH_END - 1
    const burst = [send(1), send(1), send(1), send(1)]
    const first = await Promise.allSettled(burst)
    assert.equal(first.filter(({ status }) => status === 'rejected').length, 1)
    core.clock.now = MONTH_END
    await Promise.all([send(1), send(2)])
    await assert.rejects(send(1), {
      details: {
        category: 'transactional',
        limit: 3,
        used: 3,
        resetsAt: '2027-01-01T00:00:00.000Z',
      },
    })
    assert.equal((await useOf(core, project.id, MONTH_END - 1)).transactional, 3)
    assert.equal((await useOf(core, project.id)).transactional, 3)
  })

  it('counts a request that began before the month ended in that month', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 1 })
    const found = await findProject(core, project.id)
    core.clock.now = MONTH_END - 1
    const late = send(1, found)
    core.clock.now = MONTH_END
    await late
    const row = await core.store.read.select().from(emails).get()
    assert.equal(row?.createdAt, MONTH_END - 1)
    assert.equal((await useOf(core, project.id, MONTH_END - 1)).transactional, 1)
    assert.deepEqual(await useOf(core, project.id), NOTHING)
  })

  it('is not lowered by the deletion of contacts', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 2 })
    await send(2)
    await core.store.write((tx) => tx.delete(contacts).run())
    await follow(core)
    assert.equal(await rowsOf(core), 0)
    assert.equal((await useOf(core, project.id)).transactional, 2)
    await assert.rejects(send(1), { code: 'BILLING_LIMIT_EXCEEDED' })
  })

  it('does not concern mail of the server to its users', async (t) => {
    const { core, project, send } = await openLimited(
      t,
      { limitTransactional: 1 },
      { configure: (config) => ({ ...config, accounts: { ...config.accounts } }) },
    )
    core.config.accounts.mailProject = project.id
    await send(1)
    await core.store.write((tx) =>
      core.reportDomainLoss(tx, { projectId: project.id, domain: 'shop.test' }, core.now()),
    )
    assert.ok((await writeMail(core)) >= 1)
    assert.ok((await mailTo(core, project.ownerAddress)).length >= 1)
    assert.equal((await useOf(core, project.id)).transactional, 1)
  })
})

describe('an Idempotency-Key', () => {
  it('is free after a refusal, and the same request succeeds when the limit is raised', async (t) => {
    const { core, project } = await openLimited(t, { limitTransactional: 1 })
    const attempt = async (index: number, key: string) =>
      acceptOnce(
        core,
        { project: await findProject(core, project.id), request: requestTo(index) },
        {
          idempotency: { key, method: 'POST', path: '/v1/send' },
          toResponseData: ({ emails: accepted }) => ({ count: accepted.length }),
        },
      )
    await attempt(1, 'first')
    await assert.rejects(attempt(2, 'second'), { code: 'BILLING_LIMIT_EXCEEDED' })
    await assert.rejects(attempt(2, 'second'), { code: 'BILLING_LIMIT_EXCEEDED' })
    assert.equal(await core.store.read.$count(idempotencyKeys), 1)
    assert.equal(core.reservedKeys.size, 0)
    await setColumns(core, project.id, { limitTransactional: 2 })
    const same = await Promise.allSettled([attempt(2, 'second'), attempt(2, 'second')])
    const codes = same.map((each) => (each.status === 'rejected' ? each.reason.code : 'sent'))
    assert.deepEqual(codes, ['sent', 'IDEMPOTENCY_KEY_REUSED'])
    assert.equal(await rowsOf(core), 2)
  })

  it('of several requests at a time lets exactly the allowed ones through', async (t) => {
    const { core, project } = await openLimited(t, { limitTransactional: 5 })
    const found = await findProject(core, project.id)
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        acceptOnce(
          core,
          { project: found, request: requestTo(index) },
          {
            idempotency: { key: `key ${index}`, method: 'POST', path: '/v1/send' },
            toResponseData: () => ({}),
          },
        ),
      ),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 5)
    assert.equal(await core.store.read.$count(idempotencyKeys), 5)
    assert.equal(await rowsOf(core), 5)
  })
})

describe('the shared limit', () => {
  it('holds for all categories together, with Stripe and without a subscription', async (t) => {
    const { core, project, send } = await openLimited(t, {}, { configure: withStripe(3) })
    await send(2)
    await assert.rejects(send(2), {
      code: 'BILLING_LIMIT_EXCEEDED',
      message:
        'All projects of an owner without a subscription have 3 emails a month together (billing.free_emails), and have used 2.',
      details: { category: 'shared', limit: 3, used: 2, resetsAt: '2026-12-01T00:00:00.000Z' },
    })
    await send(1)
    assert.deepEqual(
      (await noticesOf(core)).map(({ category, percent }) => [category, percent]),
      [['shared', 100]],
    )
    await setColumns(core, project.id, { subscription: 'sub_1' })
    await send(2)
    assert.equal((await useOf(core, project.id)).transactional, 5)
  })

  it('holds beside limits of the project', async (t) => {
    const columns = { limitTransactional: 1_000_000 }
    const { send } = await openLimited(t, columns, { configure: withStripe(2) })
    await send(2)
    await assert.rejects(send(1), {
      message:
        'All projects of an owner without a subscription have 2 emails a month together (billing.free_emails), and have used 2.',
    })
  })

  it('is not there without Stripe', async (t) => {
    const { core, project, send } = await openLimited(t)
    await send(1_000)
    await send(1)
    assert.equal((await useOf(core, project.id)).transactional, 1_001)
    assert.deepEqual(await noticesOf(core), [])
  })
})

function requestTo(index: number, from = 'shop@shop.test') {
  return {
    to: [{ address: address(`k${index}@people.test`), name: null }],
    from: { address: address(from), name: null },
    subject: 'Hi',
    body: '<p>Hi</p>',
  }
}
