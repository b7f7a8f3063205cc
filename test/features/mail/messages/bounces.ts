/** Sends many emails at once and settles their attempts. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Core } from '../../../../src/core/core.ts'
import type { SendRequest } from '../../../../src/features/mail/messages/accept/plan.ts'
import { createDeliverer } from '../../../../src/features/mail/messages/delivery/deliverer.ts'
import { startQueue } from '../../../../src/features/mail/messages/queue/queue.ts'
import type { AttemptOutcome } from '../../../../src/outbound/attempt.ts'
import type { DeliveryTask } from '../../../../src/outbound/delivery.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { heldSuppressions, suppressions } from '../../../../src/store/schema/suppressions.ts'
import { address } from '../../../core.ts'
import { attempted, type OutcomeKind, openSender, type Sender } from './sender.ts'

type End = { kind: OutcomeKind; change?: Partial<AttemptOutcome> }

/** The outcome for a domain that does not exist. */
export const noSuchDomain: End = {
  kind: 'hard',
  change: { host: null, address: null, reply: null, error: 'the domain does not exist' },
}

export type Bounces = Sender & {
  /** Sends to each address (new contacts are subscribed) and settles each email; returns the ids. */
  end(to: readonly string[], end: End | ((index: number) => End)): Promise<string[]>
  listed(): Promise<string[]>
  held(): Promise<string[]>
  subscribed(): Promise<string[]>
  /** The names of the subscription events, with their reasons. */
  flips(): Promise<string[]>
}

export async function openBounces(
  t: TestContext,
  change: (core: Core) => Partial<Core> = () => ({}),
): Promise<Bounces> {
  const sender = await openSender(t)
  Object.assign(sender.core, change(sender.core))
  const { store } = sender.core
  let accepted: ((task: DeliveryTask) => void) | undefined
  const { deliver } = sender.core.outbound
  sender.core.outbound.deliver = (tasks) => {
    deliver(tasks)
    for (const task of tasks) accepted?.(task)
  }
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())

  const known = new Set<string>()

  async function send(to: readonly string[], more: Partial<SendRequest>): Promise<void> {
    if (to.length === 0) return
    await sender.send({ to: to.map((text) => ({ address: address(text), name: null })), ...more })
  }

  async function end(to: readonly string[], how: End | ((index: number) => End)) {
    const tasks: DeliveryTask[] = []
    const all = Promise.withResolvers<void>()
    accepted = (task) => {
      tasks.push(task)
      if (tasks.length === to.length) all.resolve()
    }
    const isKnown = (text: string) => known.has(text)
    await send(
      to.filter((text) => !isKnown(text)),
      { subscribed: true },
    )
    await send(to.filter(isKnown), {})
    for (const text of to) known.add(text)
    await all.promise
    const order = new Map(to.map((text, index) => [text, index]))
    tasks.sort((left, right) => position(order, left) - position(order, right))
    delivery.finished(
      tasks.map((task, index) => {
        const { kind, change } = typeof how === 'function' ? how(index) : how
        return attempted(task, kind, change)
      }),
    )
    await delivery.settled(60_000)
    assert.deepEqual(delivery.inFlight(), [])
    return tasks.map(({ emailId }) => emailId)
  }

  return {
    ...sender,
    end,
    listed: async () =>
      (await store.read.select().from(suppressions)).map(({ address }) => address),
    held: async () =>
      (await store.read.select().from(heldSuppressions)).map(({ address }) => address),
    subscribed: async () => {
      const rows = await store.read.select().from(contacts).where(eq(contacts.subscribed, true))
      return rows.map(({ address }) => address)
    },
    flips: async () => {
      const rows = await store.read.select().from(events).orderBy(events.seq)
      const flips = rows.filter(({ name }) => name.startsWith('contact.'))
      return flips.map(({ name, data }) => `${name} ${data?.reason}`)
    },
  }
}

function position(order: ReadonlyMap<string, number>, { recipient }: DeliveryTask): number {
  return order.get(recipient) ?? -1
}

export async function statesOf({ core }: Sender): Promise<Record<string, number>> {
  const rows = await core.store.read.select({ state: emails.state }).from(emails)
  const counts: Record<string, number> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

export const people = (count: number, domain = 'dest.test', name = 'user'): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}@${domain}`)
