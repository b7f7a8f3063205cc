/**
 * A process that sends events of emails, and has them charged at once by the double of Stripe, until
 * somebody kills it. Arguments: the database, the address of the double, how far its clock is ahead in ms,
 * and where it stops and waits to be killed:
 *
 *   committed   after its first events
 *   answered    when Stripe has answered, and the answer is not written
 *   summed      when Stripe has said what it has counted, and nothing is written
 *   dropping    when the line of a batch that is not charged is in the log
 *   dropped     when such a batch is written
 *   finish      nowhere; it sends no events, and ends when everything is charged
 *   anywhere    nowhere
 *
 * A line on stdout says that it waits. Its log is a file beside the database.
 */
import { appendFileSync } from 'node:fs'
import { createCounters } from '../../../src/base/counters.ts'
import { createLog, type Log, silentLog } from '../../../src/base/log.ts'
import { appendEvents } from '../../../src/features/ground/events/append.ts'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../src/features/ground/usage/follow-events.ts'
import { createMetering } from '../../../src/features/tenancy/billing/billing.ts'
import { findAnyOpen } from '../../../src/features/tenancy/billing/metering/batches.ts'
import { meter } from '../../../src/features/tenancy/billing/metering/collect.ts'
import { createStripe, type StripeClient } from '../../../src/features/tenancy/billing/stripe.ts'
import { createResolver } from '../../../src/outbound/dns/resolver.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { meteringBatches } from '../../../src/store/schema/billing.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { SECRET_KEY, WEBHOOK_SECRET } from '../../stripe/double.ts'
import { METER, PRICE } from '../../stripe/objects.ts'

export const CUSTOMERS = ['cus_p1', 'cus_p2']
export const EMAILS = 1_300
/** Emails of one transaction. */
const WRITE = 100
/** Batches may be ahead of their emails by half an hour. */
const AGO_MS = 40 * 60_000
const isDropped = eq(meteringBatches.state, 'dropped')

export async function openMetered(file: string): Promise<Store> {
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  await store.write(async (tx) => {
    for (const customer of CUSTOMERS) {
      const keys = { publicKey: customer, secretDigest: customer, secretHint: '' }
      const billing = { customer, subscription: `sub_${customer}`, subscribedAt: 0 }
      const row = { id: customer, name: customer, ...keys, ...billing, createdAt: 0, updatedAt: 0 }
      await tx.insert(projects).values(row).onConflictDoNothing()
    }
  })
  return store
}

export function logOf(file: string): string {
  return `${file}.log`
}

function report(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Reports the step, and waits. */
function halt(step: string): Promise<never> {
  report(step)
  return new Promise(() => setInterval(() => undefined, 1_000))
}

/** Keeps the errors. */
function openLog(file: string, step: string): Log {
  const write = (line: string) => {
    appendFileSync(logOf(file), line)
    if (step !== 'dropping' || !line.includes('emails were not charged')) return
    report(step)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  return createLog('error', { write })
}

/** Waits after the write of another batch that is not charged. */
async function stopAtDrop(store: Store, step: string): Promise<Store> {
  const countDropped = () => store.read.$count(meteringBatches, isDropped)
  const before = await countDropped()
  return {
    ...store,
    async write(act, options) {
      const written = await store.write(act, options)
      return step === 'dropped' && (await countDropped()) > before ? halt(step) : written
    },
  }
}

/** Waits after an answer of this kind. */
function stopAt(client: StripeClient, step: string): StripeClient {
  const waited = { answered: 'billing.meter_event', summed: 'list' }[step]
  return {
    ...client,
    async call(act, signal) {
      const answer = await client.call(act, signal)
      if (Object(answer).object !== waited) return answer
      return halt(step)
    },
  }
}

async function sendEmails(store: Store, at: number, step: string): Promise<void> {
  for (let sent = 0; sent < EMAILS; sent += WRITE) {
    const events = Array.from({ length: WRITE }, (_, index) => ({
      projectId: CUSTOMERS[index % CUSTOMERS.length] ?? '',
      ...{ name: 'email.sent', contactId: null, emailId: newId(), data: null, at },
    }))
    await store.write((tx) => appendEvents(tx, events))
    if (step === 'committed') report(step)
  }
}

if (import.meta.main) {
  const [file = '', stripeApiBase = '', ahead = '0', step = ''] = process.argv.slice(2)
  const now = () => Date.now() + Number(ahead)
  const store = await stopAtDrop(await openMetered(file), step)
  const billing = {
    ...{ stripeSecretKey: SECRET_KEY, stripeWebhookSecret: WEBHOOK_SECRET, stripePrice: PRICE },
    ...{ stripeMeterEvent: METER.eventName, stripeApiBase, freeEmails: 0 },
  }
  const resolver = createResolver({ servers: [], now })
  const client = createStripe(billing, { now, resolver })
  const log = openLog(file, step)
  const deps = { store, log, now, counters: createCounters(), stripe: stopAt(client, step) }
  const follower = startLazyReader(deps, [usageHandler((tx, events) => meter(deps, tx, events))])
  if (step !== 'finish') await sendEmails(store, now() - AGO_MS, step)
  await follower.caughtUp()
  const { run } = createMetering(deps)
  const { signal } = new AbortController()
  for (;;) {
    await run(signal)
    if (step === 'finish' && (await store.read.find(findAnyOpen)) === undefined) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await follower.stop()
  client.close()
  await store.close()
}
