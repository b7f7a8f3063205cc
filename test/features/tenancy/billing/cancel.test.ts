import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createSchedule } from '../../../../src/core/areas.ts'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { startLazyReader } from '../../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../../src/features/ground/usage/follow-events.ts'
import {
  deleteProject,
  resetProject,
} from '../../../../src/features/operation/erasure/end-project.ts'
import {
  CANCELLATION_KIND,
  runCancellation,
} from '../../../../src/features/tenancy/billing/cancel.ts'
import { findChargedSince } from '../../../../src/features/tenancy/billing/metering/batches.ts'
import { meter } from '../../../../src/features/tenancy/billing/metering/collect.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { startJobs } from '../../../../src/work/jobs/jobs.ts'
import type { RunningJob } from '../../../../src/work/jobs/run.ts'
import { pause } from '../../../pause.ts'
import { findText } from '../../operation/erasure/fill.ts'
import { type Billed, HOUR_MS, MINUTE_MS, openBilled, type Subscribed } from './billed.ts'

/** Runs the jobs of cancellations that are due. Returns how many there were. */
async function runDue({ core, deps }: Billed): Promise<number> {
  const rows = await core.store.read.select().from(jobs).where(eq(jobs.kind, CANCELLATION_KIND))
  const due = rows.filter(({ runAt }) => runAt <= core.clock.now)
  const { signal } = new AbortController()
  for (const row of due) {
    const job = { ...row, leaseId: '', attempt: 1, signal, setPercent: async () => undefined }
    await runCancellation(deps, job as RunningJob)
  }
  return due.length
}

function waiting({ core }: Billed) {
  return core.store.read.select().from(jobs).where(eq(jobs.kind, CANCELLATION_KIND))
}

function statusOf({ stripe }: Billed, { subscription }: Subscribed) {
  return stripe.state.subscriptions.get(subscription)?.status
}

async function follow(t: TestContext, { core, deps }: Billed): Promise<void> {
  const follower = startLazyReader(core, [usageHandler((tx, events) => meter(deps, tx, events))])
  t.after(follower.stop)
  await follower.caughtUp()
}

it('the question whether a batch was charged lately reads no other row', async (t) => {
  const { core } = await openBilled(t)
  const plan = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${findChargedSince.compiled().text.replaceAll('?', '1')}`),
  )
  assert.deepEqual(
    plan.map(({ detail }) => detail),
    [
      'SEARCH metering_batches USING COVERING INDEX metering_batches_charged (project_id=? AND updated_at>?)',
    ],
  )
})

describe('the subscription of a deleted project', () => {
  it('is cancelled once its mail is charged, which is on the last invoice', async (t) => {
    const billed = await openBilled(t)
    const { core, stripe, pass, run } = billed
    const shop = await billed.subscribe()
    await follow(t, billed)
    await billed.send(shop, 250)
    stripe.fault = () => '500'
    await deleteProject(core, shop.id)
    pass(2 * MINUTE_MS)
    await run()
    assert.equal(await runDue(billed), 1)
    assert.equal(statusOf(billed, shop), 'active', 'a batch is open')
    stripe.fault = () => undefined
    pass(10 * MINUTE_MS)
    await run()
    assert.equal(stripe.charged(shop.customer), 250)
    await runDue(billed)
    assert.equal(statusOf(billed, shop), 'active', 'Stripe may not have added it up')
    pass(HOUR_MS + 10 * MINUTE_MS)
    await runDue(billed)
    assert.equal(statusOf(billed, shop), 'canceled')
    const { form } = stripe.requests.at(-1)!
    assert.deepEqual(form, { invoice_now: 'true', prorate: 'false' })
    const [invoice] = [...stripe.state.invoices.values()]
    assert.equal(invoice?.amountDue, 25)
    assert.deepEqual(await waiting(billed), [])
  })

  it('is cancelled when the project has no row any more, and the job leaves none', async (t) => {
    const billed = await openBilled(t)
    const { core, stripe } = billed
    const shop = await billed.subscribe()
    await follow(t, billed)
    await deleteProject(core, shop.id)
    const { handlers, limits } = createSchedule({ ...billed.deps })
    const running = startJobs({ ...core, handlers, limits })
    const isGone = async () => {
      const row = await core.store.read
        .select()
        .from(projects)
        .where(eq(projects.id, shop.id))
        .get()
      return row === undefined && (await waiting(billed)).length === 0
    }
    while (!(await isGone())) await pause()
    await running.stop(1_000)
    assert.equal(statusOf(billed, shop), 'canceled')
    assert.deepEqual(await findText(core.store.read, shop.id), [])
    assert.equal(stripe.violations.length, 0)
  })

  it('is cancelled later if Stripe does not answer, and may be cancelled already', async (t) => {
    const billed = await openBilled(t)
    const { core, stripe } = billed
    const shop = await billed.subscribe()
    await follow(t, billed)
    await deleteProject(core, shop.id)
    for (const fault of ['refuse', '500', '500-after', 'cut'] as const) {
      stripe.fault = () => fault
      await assert.rejects(runDue(billed), { code: 'EXTERNAL_SERVICE_ERROR' })
      assert.equal((await waiting(billed)).length, 1, fault)
    }
    stripe.fault = () => undefined
    assert.equal(statusOf(billed, shop), 'canceled', 'by a request without an answer')
    await runDue(billed)
    assert.deepEqual(await waiting(billed), [])
  })

  it('waits until the last events of the project were read', async (t) => {
    const billed = await openBilled(t)
    const { core, pass } = billed
    const shop = await billed.subscribe()
    const none = { contactId: null, emailId: null, data: null }
    const event = { projectId: shop.id, name: 'x', ...none, at: core.now() }
    await core.store.write((tx) => appendEvents(tx, [event]))
    await deleteProject(core, shop.id)
    await runDue(billed)
    assert.equal(statusOf(billed, shop), 'active')
    await follow(t, billed)
    pass(10 * MINUTE_MS)
    await runDue(billed)
    assert.equal(statusOf(billed, shop), 'canceled')
  })

  it('is not there without one, and stays at a reset', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    await resetProject(billed.core, shop.id)
    assert.deepEqual(await waiting(billed), [])
    await billed.core.store.write((tx) =>
      tx.update(projects).set({ subscription: null }).where(eq(projects.id, shop.id)),
    )
    await deleteProject(billed.core, shop.id)
    assert.deepEqual(await waiting(billed), [])
    assert.equal(statusOf(billed, shop), 'active')
  })
})
