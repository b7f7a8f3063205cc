/**
 * The base and the parts that features make, assembled. `app.ts` builds one; edges and the schedule
 * of jobs take it. Features take their parts from `base.ts`, so that no feature depends on all.
 */

import type { Base } from '../features/ground/base.ts'
import type { ReservedKeys } from '../features/ground/requests/idempotency.ts'
import type { AcceptQueue } from '../features/mail/messages/accept/accept-queue.ts'
import type { Fuse, KnownDomains } from '../features/mail/messages/outcome/suppression-guards.ts'
import type { Lanes } from '../features/mail/messages/queue/lanes.ts'
import type { QueueNotifier } from '../features/mail/messages/queue/notifier.ts'
import type { Throttle } from '../features/mail/messages/queue/throttle.ts'
import type { HitWriter } from '../features/mail/tracking/hit-writer.ts'
import type { Challenges } from '../features/operation/acme/challenges.ts'
import type { Doctor } from '../features/operation/doctor/doctor.ts'
import type { WorkflowNotifier } from '../features/outreach/workflows/notifier.ts'
import type { EventQueue } from '../features/people/contacts/events/event-queue.ts'
import type { ContactQueue } from '../features/people/contacts/write/contact-queue.ts'
import type { Verifier } from '../features/people/verification/verifier.ts'
import type { LastUsed } from '../features/tenancy/accounts/callers/last-used.ts'
import type { LoginQueue } from '../features/tenancy/accounts/login/queue.ts'
import type { LoginThrottle } from '../features/tenancy/accounts/login/throttle.ts'
import type { IdentityProviders } from '../features/tenancy/accounts/oauth/providers.ts'
import type { SessionTokens } from '../features/tenancy/accounts/sessions/token.ts'
import type { StripeClient } from '../features/tenancy/billing/stripe.ts'

export type Core = Base & {
  /** The answers to the challenges of ACME orders. */
  acmeChallenges: Challenges
  /** Verifies addresses, with DNS queries of its own. */
  verifier: Verifier
  /** Signs and reads the cookies of logins. */
  sessionTokens: SessionTokens
  /** The providers by whose accounts people log in. */
  identityProviders: IdentityProviders
  /** Remembers when keys and sessions were last used. */
  lastUsed: LastUsed
  /** The client of Stripe; null without its keys. */
  stripe: StripeClient | null
  /** Slows down those who guess passwords and codes. */
  loginThrottle: LoginThrottle
  /** The bounded line of logins before argon2. */
  loginQueue: LoginQueue
  /** Where planned requests wait for their transaction. */
  acceptQueue: AcceptQueue
  /** Where contacts that clients write wait for their transaction. */
  contactQueue: ContactQueue
  /** Where events of clients wait for their transaction. */
  eventQueue: EventQueue
  /** The idempotency keys of requests in flight. */
  reservedKeys: ReservedKeys
  /** How many emails of a project may start now. */
  throttle: Throttle
  /** The lanes of the queue that have mail. */
  lanes: Lanes
  /** Wakes the queue when emails are due. */
  queueNotifier: QueueNotifier
  /** Wakes the engine of workflows when executions are due. */
  workflowNotifier: WorkflowNotifier
  /** Whether automatic suppressions are allowed at the moment. */
  fuse: Fuse
  /** Recipient domains that have accepted or deferred mail before. */
  knownDomains: KnownDomains
  /** Records opens and clicks. */
  hits: HitWriter
  /** Checks the server and its surroundings. */
  doctor: Doctor
}

/** The core of a command: without the parts that deliver mail and take requests. */
export type CommandCore = Omit<
  Core,
  'outbound' | 'hits' | 'throttle' | 'lanes' | 'fuse' | 'knownDomains' | 'doctor'
>
