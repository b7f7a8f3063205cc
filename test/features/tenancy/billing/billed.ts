/** A core with the double of Stripe, and projects that have subscribed. */
import type { TestContext } from 'node:test'
import { createMetering } from '../../../../src/features/tenancy/billing/billing.ts'
import {
  type MeteredEvent,
  meter,
} from '../../../../src/features/tenancy/billing/metering/collect.ts'
import type { StripeClient } from '../../../../src/features/tenancy/billing/stripe.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { type MeteringBatch, meteringBatches } from '../../../../src/store/schema/billing.ts'
import { addProject, openTestCore, START, type TestCore, type TestProject } from '../../../core.ts'
import { type StripeDouble, type StripeRequest, startStripeDouble } from '../../../stripe/double.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export type Subscribed = TestProject & { customer: string; subscription: string }

type LogLine = { level: 'info' | 'warn' | 'error'; text: string } & Record<string, unknown>

export type Billed = {
  core: TestCore
  stripe: StripeDouble
  /** The core with a log that keeps its lines. */
  deps: TestCore & { stripe: StripeClient }
  lines: LogLine[]
  subscribe(name?: string): Promise<Subscribed>
  /** Emails that are sent now, as the follower of events has them; returns their ids. */
  send(project: TestProject, count: number, change?: Partial<MeteredEvent>): Promise<string[]>
  /** One run of the loop. */
  run(signal?: AbortSignal): Promise<void>
  /** As after a start of the server: whether Stripe answers is unknown. */
  restart(): void
  /** Moves the clock. */
  pass(ms: number): void
  batches(): Promise<MeteringBatch[]>
}

export const isEvent = ({ path }: StripeRequest) => path === '/v1/billing/meter_events'

/** The states of all batches, without repetitions. */
export async function statesOf(billed: Billed): Promise<string[]> {
  return [...new Set((await billed.batches()).map(({ state }) => state))].sort()
}

export async function openBilled(
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<Billed> {
  let core: TestCore | undefined
  const stripe = await startStripeDouble(() => core?.clock.now ?? START)
  core = await openTestCore(t, { settings: { ...stripe.settings, ...settings } })
  const opened = core
  t.after(stripe.stop)
  if (opened.stripe === null) throw new TypeError('billing is not configured')
  const lines: LogLine[] = []
  const keep = (level: LogLine['level']) => (facts: object, text: string) =>
    void lines.push({ level, text, ...facts })
  const log = { ...opened.log, info: keep('info'), warn: keep('warn'), error: keep('error') }
  const deps = { ...opened, log: log as unknown as TestCore['log'], stripe: opened.stripe }
  let metering = createMetering(deps)
  const { signal: never } = new AbortController()
  return {
    core: opened,
    stripe,
    deps,
    lines,
    async subscribe(name) {
      const project = await addProject(opened, name)
      const metadata = { project_id: project.id }
      const { id: subscription, customer } = stripe.addSubscription({ metadata })
      await opened.store.write((tx) =>
        tx
          .update(projects)
          .set({ customer, subscription, currency: 'usd', subscribedAt: opened.clock.now })
          .where(eq(projects.id, project.id)),
      )
      return { ...project, customer, subscription }
    },
    async send({ id: projectId }, count, change = {}) {
      const ids = Array.from({ length: count }, () => newId())
      const createdAt = opened.clock.now
      const events = ids.map((emailId) => ({
        ...{ seq: 1, projectId, name: 'email.sent', emailId, createdAt, isPlatform: false },
        ...change,
      }))
      await opened.store.write((tx) => meter(deps, tx, events))
      return ids
    },
    run: (signal = never) => metering.run(signal),
    restart() {
      metering = createMetering(deps)
    },
    pass(ms) {
      opened.clock.now += ms
    },
    batches: () =>
      opened.store.read.select().from(meteringBatches).orderBy(meteringBatches.occurredAt),
  }
}
