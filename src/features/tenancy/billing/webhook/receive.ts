/**
 * Receives an event of Stripe (`POST /webhooks/incoming/stripe`). An event is a hint: what it says is read
 * again from Stripe, so that neither its order nor its repetition matters, and nothing in its body but an
 * id is used.
 *
 * | event                                   | result                                              |
 * |-----------------------------------------|-----------------------------------------------------|
 * | without a right signature, malformed    | BAD_REQUEST                                         |
 * | seen before, of another kind or mode    | success; nothing is done                            |
 * | about an object that Stripe has not,    | success; it is logged                               |
 * |   or that is of no project here         |                                                     |
 * | Stripe does not answer                  | EXTERNAL_SERVICE_ERROR; Stripe sends it again       |
 * | the database cannot write               | DATABASE_ERROR; Stripe sends it again               |
 * | any other                               | success, in one transaction with the event's id     |
 *
 * Stripe sends an event for three days until it gets a success.
 */

import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { stripeEvents } from '../../../../store/schema/billing.ts'
import type { Base } from '../../../ground/base.ts'
import { requireStripe, type WithStripe } from '../require-stripe.ts'
import type { StripeClient } from '../stripe.ts'
import { isFault } from '../stripe-fault.ts'
import { applyStanding } from './apply.ts'
import { parseEvent, type StripeEvent } from './event.ts'
import { findReference, type Reference } from './find-reference.ts'
import { readStanding } from './read-standing.ts'
import { createSequences, type Sequences } from './sequences.ts'
import { checkSignature } from './signature.ts'

type ReceiveDeps = WithStripe &
  Pick<Base, 'config' | 'keyring' | 'store' | 'directory' | 'now' | 'log' | 'jobNotifier'>

type StripeReceiver = {
  /** @throws AppError RESOURCE_NOT_FOUND without billing */
  requireOpen(): void
  /** Resolves when Stripe need not send the event again. @throws AppError, see above */
  receive(signed: { body: Buffer; signature: unknown }): Promise<void>
}

export function createStripeReceiver(deps: ReceiveDeps): StripeReceiver {
  const sequences = createSequences()
  return {
    requireOpen: () => void requireStripe(deps),
    async receive({ body, signature }) {
      const stripe = requireStripe(deps)
      const { webhookSecret: secret } = stripe
      checkSignature({ header: signature, body, secret, at: deps.now() })
      const event = parseEvent(body)
      if (event === undefined) throw new AppError('BAD_REQUEST', 'The body is not an event.')
      await acceptGone(deps, event, () => handle({ ...deps, stripe, sequences }, event))
    },
  }
}

type HandleDeps = ReceiveDeps & { stripe: StripeClient; sequences: Sequences }

async function handle(deps: HandleDeps, event: StripeEvent): Promise<void> {
  const { stripe, sequences, log } = deps
  const { id, type, isLive, target } = event
  if (target === undefined) return
  if (stripe.isLive !== undefined && isLive !== stripe.isLive) {
    log.warn({ event: id, type }, 'an event of the other mode of Stripe was ignored')
    return
  }
  if (await isKnown(deps, id)) return
  const reference = await findReference(stripe, target)
  if (reference === undefined) {
    log.info({ event: id, type }, 'an event of Stripe is about no project')
    return
  }
  await sequences.take(reference.projectId, () => update(deps, event, reference))
}

/** Reads and writes in the project's turn, so that an older state never replaces a newer one. */
async function update(deps: HandleDeps, event: StripeEvent, reference: Reference): Promise<void> {
  const standing = await readStanding(deps, deps.stripe, reference)
  if (standing === undefined) return
  await deps.store.write(async (tx) => {
    const times = { id: event.id, createdAt: deps.now() }
    const added = await tx.insert(stripeEvents).values(times).onConflictDoNothing().returning()
    if (added.length > 0) await applyStanding(deps, tx, standing)
  })
}

async function isKnown({ store }: ReceiveDeps, id: string): Promise<boolean> {
  const found = await store.read.select().from(stripeEvents).where(eq(stripeEvents.id, id)).get()
  return found !== undefined
}

/** No repetition would find an object that Stripe does not have. */
async function acceptGone(
  { log }: ReceiveDeps,
  { id, type }: StripeEvent,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!isFault(error, 'missing')) throw error
    log.warn({ event: id, type }, 'an event is about an object that Stripe does not have')
  }
}
