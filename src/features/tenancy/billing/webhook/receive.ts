/**
 * Receives an event of Stripe (`POST /webhooks/incoming/stripe`). An event is a hint: its object
 * is read again from Stripe, so that neither the order of events nor their repetition matters, and
 * only an id of the body is used.
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
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { stripeEvents } from '../../../../store/schema/billing.ts'
import type { Base } from '../../../ground/base.ts'
import { requireStripe, type WithStripe } from '../require-stripe.ts'
import type { StripeClient } from '../stripe.ts'
import { isFault } from '../stripe-fault.ts'
import { findReference, parseEvent, type StripeEvent, type SubscriptionReference } from './event.ts'
import { applyStanding, readStanding } from './standing.ts'

/** How old a signature may be, and how far in the future. */
const TOLERANCE_MS = 5 * MINUTE_MS
const MAX_HEADER_LENGTH = 2_000

type ReceiveDeps = WithStripe &
  Pick<Base, 'config' | 'keyring' | 'store' | 'directory' | 'now' | 'log' | 'jobNotifier'>

type StripeReceiver = {
  /** Requires that the server has billing. @throws AppError RESOURCE_NOT_FOUND without billing */
  requireOpen(): void
  /**
   * Takes an event. Resolves when Stripe need not send the event again.
   * @throws AppError, see above
   */
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
  const { id, type, isLive, object } = event
  if (object === undefined) return
  if (stripe.isLive !== undefined && isLive !== stripe.isLive) {
    log.warn({ event: id, type }, 'an event of the other mode of Stripe was ignored')
    return
  }
  if (await isKnown(deps, id)) return
  const reference = await findReference(stripe, object)
  if (reference === undefined) {
    log.info({ event: id, type }, 'an event of Stripe is about no project')
    return
  }
  await sequences.take(reference.projectId, () => update(deps, event, reference))
}

/** Reads and writes in the project's turn, so that an older state never replaces a newer one. */
async function update(
  deps: HandleDeps,
  event: StripeEvent,
  reference: SubscriptionReference,
): Promise<void> {
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

/**
 * Accepts an event about an object that Stripe does not have: a repetition would not find the
 * object either.
 */
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

type Signed = { header: unknown; body: Buffer; secret: string; at: number }

/**
 * Checks the signature of an event: `t=<seconds>,v1=<hex>,…`, an HMAC-SHA-256 over the seconds, a
 * dot and the body as it was sent. While the operator rolls the secret, Stripe signs with the old
 * one and the new one, so one of several signatures must be right. Source:
 * https://docs.stripe.com/webhooks/signature
 *
 * @throws AppError BAD_REQUEST without a right and recent signature
 */
export function checkSignature({ header, body, secret, at }: Signed): void {
  if (typeof header !== 'string' || header === '')
    throw refusedSignature('The signature is missing.')
  const { seconds, signatures } = parseHeader(header.slice(0, MAX_HEADER_LENGTH))
  if (seconds === undefined) throw refusedSignature('The signature has no time.')
  const content = Buffer.concat([Buffer.from(`${seconds}.`), body])
  const expected = createHmac('sha256', secret).update(content).digest()
  if (!signatures.some((one) => isSameSignature(one, expected)))
    throw refusedSignature('The signature is not valid.')
  if (Math.abs(at - Number(seconds) * SECOND_MS) > TOLERANCE_MS) {
    throw refusedSignature('The signature is too old, or of the future.')
  }
}

/** Parses the header. `seconds` stays a text, because the text is signed. */
function parseHeader(header: string): { seconds: string | undefined; signatures: string[] } {
  const pairs = header.split(',').map((part) => part.trim().split('='))
  const valuesOf = (key: string) =>
    pairs.flatMap(([name, value = '']) => (name === key ? [value] : []))
  const seconds = valuesOf('t').find((value) => /^\d{1,12}$/.test(value))
  return { seconds, signatures: valuesOf('v1').filter((value) => /^[0-9a-f]{64}$/.test(value)) }
}

function isSameSignature(signature: string, expected: Buffer): boolean {
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected)
}

function refusedSignature(text: string): AppError {
  return new AppError('BAD_REQUEST', text, {
    suggestion: 'Check that billing.stripe_webhook_secret is the secret of this webhook endpoint.',
  })
}

/** Runs pieces of work with the same key one after another. */
type Sequences = { take<T>(key: string, act: () => Promise<T>): Promise<T> }

/** Runs pieces of work with the same key one after another. */
function createSequences(): Sequences {
  const tails = new Map<string, Promise<unknown>>()
  return {
    async take(key, act) {
      const before = tails.get(key)
      const own = (before ?? Promise.resolve()).then(act, act)
      tails.set(key, own)
      try {
        return await own
      } finally {
        if (tails.get(key) === own) tails.delete(key)
      }
    },
  }
}
