import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { MINUTE_MS } from '../../../../../src/base/clock.ts'
import { explainEmail } from '../../../../../src/features/mail/messages/explain/explain.ts'
import type {
  EmailFacts,
  ExplainedEmail,
  LastAttempt,
  LiveFacts,
} from '../../../../../src/features/mail/messages/explain/facts.ts'
import type { LiveSite } from '../../../../../src/features/mail/messages/explain/live-status.ts'
import { sentenceOf } from '../../../../../src/features/mail/messages/explain/sentences.ts'
import { untriedError } from '../../../../../src/features/mail/messages/outcome/given-up.ts'
import type { SiteStatus } from '../../../../../src/outbound/sites/site-status.ts'
import { reasonData as reasonDataSchema } from '../../../../../src/records/reason.ts'
import { EMAIL_REASONS, type EmailReasonCode } from '../../../../../src/records/reason-codes.ts'

const NOW = Date.UTC(2026, 10, 21, 12)

const email: ExplainedEmail = {
  id: 'e1',
  projectId: 'p1',
  recipient: 'ada@dest.test',
  recipientDomain: 'dest.test',
  state: 'queued',
  status: 'PENDING',
  queueClass: 1,
  dueAt: NOW - MINUTE_MS,
  retryAt: null,
  leaseUntil: null,
  heldAt: null,
  attemptCount: 0,
  error: null,
  sentAt: null,
  deliveredAt: null,
  bouncedAt: null,
  complainedAt: null,
  updatedAt: NOW - MINUTE_MS,
}

const word: LastAttempt = {
  at: NOW - MINUTE_MS,
  result: 'deferred',
  class: 'unknown',
  host: 'mx.dest.test',
  address: '192.0.2.1',
  replyCode: 451,
  enhancedCode: '4.3.2',
  replyText: 'busy,\ncome back.',
  error: null,
  finalRecipient: null,
  isMaybeDelivered: false,
}

const interrupted: LastAttempt = {
  ...word,
  result: 'interrupted',
  isMaybeDelivered: true,
  class: null,
  host: null,
  address: null,
  replyCode: null,
  enhancedCode: null,
  replyText: null,
}

const status: SiteStatus = {
  site: 'dest.test',
  connections: 0,
  maxConnections: 10,
  limited: null,
  messagesPerMinute: null,
  rateUntil: null,
  inFlight: 0,
  restrictedSince: null,
  blockedUntil: null,
  cause: null,
}

const site: LiveSite = { site: 'dest.test', status, hasCapacity: { 1: true, 5: true, 10: true } }
const hasCapacity = { 1: true, 5: true, 10: true }
const quiet = { emailsPerSecond: null, isShort: false, hasCapacity }

function running(change: Partial<Extract<LiveFacts, { server: 'running' }>> = {}): LiveFacts {
  const calm = { sites: { 'dest.test': site }, projects: { p1: quiet }, progress: {} }
  return { server: 'running', ...calm, ...change }
}

const sites = (change: Partial<SiteStatus>, more: Partial<LiveSite> = {}) => ({
  'dest.test': { ...site, ...more, status: { ...status, ...change } },
})

type Given = Partial<Omit<EmailFacts, 'email'>> & { email?: Partial<ExplainedEmail> }

function explain({ email: change = {}, ...facts }: Given) {
  const none = {
    hold: null,
    suppression: null,
    last: null,
    obstacle: null,
    isCampaignPaused: false,
    pace: null,
    isSenderVerified: true,
    isOfCampaign: true,
    projectHold: null,
    fencedSince: null,
    ahead: null,
  }
  const given = { ...none, live: running(), now: NOW, ...facts }
  return explainEmail({ ...given, email: { ...email, ...change } })
}

type Case = [name: string, code: EmailReasonCode, given: Given, reason: string, command?: string]

const deferred = { state: 'deferred', attemptCount: 1, dueAt: NOW + MINUTE_MS } as const
const inBackOff = {
  restrictedSince: NOW - 5 * MINUTE_MS,
  blockedUntil: NOW + 2 * MINUTE_MS,
  cause: { at: NOW - MINUTE_MS, text: '421 4.7.0 too much' },
}
const slowed = {
  ...inBackOff,
  blockedUntil: null,
  messagesPerMinute: 1,
  rateUntil: NOW + 30 * MINUTE_MS,
}
const held = { domain: 'dest.test', heldAt: NOW - MINUTE_MS }

const waiting: Case[] = [
  ['nothing', 'due', {}, 'It is due now and will be sent as soon as the server gets to it.'],
  [
    'a hold',
    'domain_held',
    { email: { state: 'held', heldAt: NOW - MINUTE_MS, dueAt: null }, hold: held },
    'It has been held since 2026-11-21 11:59:00Z: an operator holds all mail to dest.test.',
    'queue release --domain dest.test',
  ],
  [
    'a hold and its paused campaign',
    'domain_held',
    {
      email: { state: 'held', heldAt: NOW - MINUTE_MS, dueAt: null },
      hold: held,
      isCampaignPaused: true,
    },
    'It has been held since 2026-11-21 11:59:00Z: an operator holds all mail to dest.test. Its campaign is paused, too, and must be resumed.',
    'queue release --domain dest.test',
  ],
  [
    'its paused campaign and a hold',
    'campaign_paused',
    {
      email: { state: 'paused', heldAt: NOW - MINUTE_MS, dueAt: null },
      hold: held,
      isCampaignPaused: true,
    },
    'It has been paused by its campaign since 2026-11-21 11:59:00Z, and waits until it is resumed. An operator holds all mail to dest.test, too.',
  ],
  [
    'its paused campaign, whose sender domain is lost',
    'campaign_paused',
    {
      email: { state: 'paused', heldAt: NOW - MINUTE_MS, dueAt: null },
      isCampaignPaused: true,
      isSenderVerified: false,
    },
    'It has been paused by its campaign since 2026-11-21 11:59:00Z, and waits until it is resumed. The sender domain must be verified again before that.',
  ],
  [
    'the pace of its campaign',
    'campaign_pace',
    { email: { state: 'paused', heldAt: NOW - MINUTE_MS, dueAt: null }, pace: 500 },
    'It waits for its turn: its campaign sends at most 500 emails an hour (maxPerHour).',
  ],
  [
    'the lost sender domain of a campaign that was sent',
    'sender_unverified',
    {
      email: { state: 'paused', heldAt: NOW - MINUTE_MS, dueAt: null },
      isSenderVerified: false,
    },
    'It has been paused since 2026-11-21 11:59:00Z, and waits until the sender domain is verified again.',
  ],
  [
    'a campaign that was resumed',
    'due_soon',
    { email: { state: 'paused', heldAt: NOW - MINUTE_MS, dueAt: null } },
    'It has been paused since 2026-11-21 11:59:00Z, and is due within a minute.',
  ],
  [
    'a project that was enabled, and a hold',
    'due_soon',
    {
      email: { state: 'paused', heldAt: NOW - MINUTE_MS, dueAt: null },
      ...{ isOfCampaign: false, hold: held },
    },
    'It has been held since 2026-11-21 11:59:00Z, and is due within a minute. An operator holds all mail to dest.test, too.',
  ],
  [
    'its disabled project',
    'project_held',
    {
      isOfCampaign: false,
      projectHold: { since: NOW - MINUTE_MS, until: NOW + 30 * MINUTE_MS },
    },
    'It is held: its project was disabled for its reputation at 2026-11-21 11:59:00Z. It waits until the project is enabled, or fails at 2026-11-21 12:30:00Z.',
    'project update p1 --enable',
  ],
  [
    'the copy that its database was brought back from',
    'restored',
    { fencedSince: NOW - MINUTE_MS, hold: held },
    'It is held since the database was brought back from a copy or lost its log, at 2026-11-21 11:59:00Z: it may have been sent meanwhile. It waits until an operator releases its project. An operator holds all mail to dest.test, too.',
    'queue release --restored --project p1',
  ],
  [
    'a hold that is over',
    'domain_released',
    { email: { state: 'held', heldAt: NOW - MINUTE_MS, dueAt: null } },
    'It was held since 2026-11-21 11:59:00Z; mail to dest.test is released, and it is due within a minute.',
  ],
  [
    'a hold that is over, and its paused campaign',
    'domain_released',
    { email: { state: 'held', heldAt: NOW - MINUTE_MS, dueAt: null }, isCampaignPaused: true },
    'It was held since 2026-11-21 11:59:00Z; mail to dest.test is released, and it waits until its paused campaign is resumed.',
  ],
  [
    'a hold that is not written to it yet',
    'domain_held',
    { hold: held },
    'It has been held since 2026-11-21 11:59:00Z: an operator holds all mail to dest.test.',
    'queue release --domain dest.test',
  ],
  [
    'a missing server',
    'no_server',
    { live: { server: 'none' } },
    'It is due now, but no server is running.',
    'serve',
  ],
  [
    'a missing server, and its retry delay',
    'no_server',
    { email: deferred, last: word, live: { server: 'none' } },
    'mx.dest.test said: 451 4.3.2 busy, come back. The next attempt is at 2026-11-21 12:01:00Z, but no server is running.',
    'serve',
  ],
  [
    'a server that does not answer',
    'due_unknown',
    { live: { server: 'silent' } },
    'It is due now; the server did not answer, so no more is known.',
  ],
  [
    'the back-off of its site',
    'receiver_closed',
    { live: running({ sites: sites(inBackOff) }) },
    'Nothing is sent to dest.test until 2026-11-21 12:02:00Z; it has been in back-off since 2026-11-21 11:55:00Z: 421 4.7.0 too much. The next attempt is at 2026-11-21 12:02:00Z.',
    'queue sites --lift dest.test',
  ],
  [
    'the back-off of a site with another name',
    'receiver_closed',
    { live: running({ sites: sites({ ...inBackOff, site: 'mail.test' }) }) },
    'Nothing is sent to mail.test (the mail servers of dest.test) until 2026-11-21 12:02:00Z; it has been in back-off since 2026-11-21 11:55:00Z: 421 4.7.0 too much. The next attempt is at 2026-11-21 12:02:00Z.',
    'queue sites --lift mail.test',
  ],
  [
    'the back-off of its site, and its own last failure',
    'receiver_closed',
    { email: deferred, last: word, live: running({ sites: sites(inBackOff) }) },
    'Nothing is sent to dest.test until 2026-11-21 12:02:00Z; it has been in back-off since 2026-11-21 11:55:00Z: 421 4.7.0 too much. mx.dest.test said: 451 4.3.2 busy, come back. The next attempt is at 2026-11-21 12:02:00Z.',
    'queue sites --lift dest.test',
  ],
  [
    'a limit of connections',
    'retry_scheduled',
    {
      email: deferred,
      last: {
        ...word,
        class: 'connections',
        replyCode: 421,
        enhancedCode: '4.3.2',
        replyText: 'too many connections',
      },
    },
    'mx.dest.test is limiting the connections of this server, which opens fewer for some minutes: 421 4.3.2 too many connections. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'a limit of a session',
    'retry_scheduled',
    {
      email: deferred,
      last: {
        ...word,
        class: 'session',
        replyCode: 452,
        enhancedCode: '4.5.3',
        replyText: 'too many recipients',
      },
    },
    'mx.dest.test is limiting the mail of one session, and gets the rest in another one: 452 4.5.3 too many recipients. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'the lowered rate of its site, with the reply quoted once',
    'receiver_slowed',
    {
      email: { ...deferred, dueAt: NOW },
      last: {
        ...word,
        class: 'throttle',
        replyCode: 421,
        enhancedCode: '4.7.0',
        replyText: 'too much',
      },
      live: running({ sites: sites(slowed) }),
    },
    'No more than 1 email a minute may go to dest.test until 2026-11-21 12:30:00Z; it has been slowed down since 2026-11-21 11:55:00Z: 421 4.7.0 too much. It is due and waits until the rate allows it.',
    'queue sites --lift dest.test',
  ],
  [
    'the back-off of its site, and an earlier reason of the site',
    'receiver_closed',
    {
      email: { ...deferred, attemptCount: 0, error: 'dest.test accepts no mail now: no reply' },
      live: running({ sites: sites(inBackOff) }),
    },
    'Nothing is sent to dest.test until 2026-11-21 12:02:00Z; it has been in back-off since 2026-11-21 11:55:00Z: 421 4.7.0 too much. dest.test accepts no mail now: no reply. The next attempt is at 2026-11-21 12:02:00Z.',
    'queue sites --lift dest.test',
  ],
  [
    'the back-off of a site without a cause, and an earlier reason',
    'receiver_closed',
    {
      email: { ...deferred, attemptCount: 0, error: 'dest.test accepts no mail now: no reply' },
      live: running({ sites: sites({ ...inBackOff, cause: null }) }),
    },
    'Nothing is sent to dest.test until 2026-11-21 12:02:00Z; it has been in back-off since 2026-11-21 11:55:00Z. dest.test accepts no mail now: no reply. The next attempt is at 2026-11-21 12:02:00Z.',
    'queue sites --lift dest.test',
  ],
  [
    'the back-off of its site, with the same reason quoted once',
    'receiver_closed',
    {
      email: {
        ...deferred,
        attemptCount: 0,
        error: 'dest.test accepts no mail now: 421 4.7.0 too much',
      },
      live: running({ sites: sites(inBackOff) }),
    },
    'Nothing is sent to dest.test until 2026-11-21 12:02:00Z; it has been in back-off since 2026-11-21 11:55:00Z: 421 4.7.0 too much. The next attempt is at 2026-11-21 12:02:00Z.',
    'queue sites --lift dest.test',
  ],
  [
    'a missing server, and the earlier reason of its site',
    'no_server',
    {
      email: { state: 'deferred', error: 'dest.test accepts no mail now: 421 4.7.0 too much' },
      live: { server: 'none' },
    },
    'dest.test accepts no mail now: 421 4.7.0 too much. It is due now, but no server is running.',
    'serve',
  ],
  [
    'its retry delay after the death of the sending process',
    'retry_scheduled',
    { email: deferred },
    'The process that was sending it ended, so the outcome of that attempt is not known. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'its retry delay, after which it will not be tried',
    'ends_untried',
    { email: deferred, obstacle: 'unsubscribed' },
    'The process that was sending it ended, so the outcome of that attempt is not known. It will end at 2026-11-21 12:01:00Z without another attempt: the contact has unsubscribed.',
  ],
  [
    'its retry delay after an earlier attempt and the death of the sending process',
    'retry_scheduled',
    { email: deferred, last: interrupted },
    'The process that was sending it ended, so the outcome of that attempt is not known. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'its retry delay after a pause of its site',
    'retry_scheduled',
    { email: { ...deferred, error: 'dest.test is in back-off: 421 4.7.0 too much' } },
    'dest.test is in back-off: 421 4.7.0 too much. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'its retry delay after greylisting',
    'retry_scheduled',
    { email: deferred, last: { ...word, class: 'greylist' } },
    'mx.dest.test asks for another attempt later (greylisting): 451 4.3.2 busy, come back. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'its retry delay after a failed DNS lookup',
    'retry_scheduled',
    {
      email: deferred,
      last: {
        ...word,
        class: 'dns',
        host: null,
        replyCode: null,
        enhancedCode: null,
        replyText: null,
        error: 'MX of dest.test: timeout',
      },
    },
    'The mail servers of dest.test could not be looked up in the DNS: MX of dest.test: timeout. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    'its retry delay after a failed connection',
    'retry_scheduled',
    {
      email: deferred,
      last: {
        ...word,
        class: 'network',
        replyCode: null,
        enhancedCode: null,
        replyText: null,
        error: 'no greeting within 5 minutes',
      },
    },
    'mx.dest.test could not be reached, or the connection was lost: no greeting within 5 minutes. The next attempt is at 2026-11-21 12:01:00Z.',
    'queue retry e1',
  ],
  [
    "its project's rate",
    'project_rate',
    { live: running({ projects: { p1: { emailsPerSecond: 2, isShort: true, hasCapacity } } }) },
    'It is due and waits for the rate limit of its project: 2 emails a second (limits.emails_per_second).',
  ],
  [
    "its project's share of the server",
    'project_share',
    { live: running({ projects: { p1: { ...quiet, hasCapacity: { 1: false } } } }) },
    'It is due and waits for other mail of its project, which is using the whole share of the server that a project may have.',
  ],
  [
    'the capacity of its site',
    'receiver_busy',
    {
      live: running({
        sites: sites(
          { connections: 10, inFlight: 25 },
          { hasCapacity: { 1: false, 5: false, 10: false } },
        ),
      }),
    },
    'It is due and waits for capacity at dest.test: 25 emails are in flight over 10 connections.',
  ],
  [
    'the capacity of a site that recovers from its back-off',
    'receiver_busy',
    {
      live: running({
        sites: sites(
          { ...inBackOff, blockedUntil: null, connections: 1, inFlight: 1 },
          { hasCapacity: { 1: false } },
        ),
      }),
    },
    'It is due and waits for capacity at dest.test: 1 email is in flight over 1 connection. It has been accepting less mail than usual since 2026-11-21 11:55:00Z: 421 4.7.0 too much.',
  ],
  [
    'the capacity of a site where the emails ahead hang',
    'receiver_busy',
    {
      ahead: 'e0',
      live: running({
        sites: sites({ connections: 5, inFlight: 5 }, { hasCapacity: { 1: false } }),
        progress: {
          e0: {
            ...{ site: 'dest.test', step: 'greeting', since: NOW - MINUTE_MS },
            peer: { host: 'mx.dest.test', address: '192.0.2.1' },
          },
        },
      }),
    },
    'It is due and waits for capacity at dest.test: 5 emails are in flight over 5 connections. The first of them: connected to mx.dest.test [192.0.2.1], waiting for its greeting since 2026-11-21 11:59:00Z.',
  ],
  [
    'the capacity of the server',
    'server_busy',
    { live: running({ sites: sites({}, { hasCapacity: { 1: false } }) }) },
    'It is due and waits for a free connection: the server is busy with other mail.',
  ],
  [
    'a connection for its site',
    'project_connections',
    { live: running({ sites: sites({}, { lackedBy: ['p1'] }) }) },
    'It is due and waits for a free connection: those of its project, or for sites that have not replied yet, are all in use.',
  ],
]

const peer = { host: 'mx.dest.test', address: '192.0.2.1' }
const sending = {
  state: 'sending',
  status: 'SENDING',
  dueAt: null,
  retryAt: NOW + MINUTE_MS,
} as const
const at = (step: string, at_: typeof peer | null = peer) =>
  running({
    progress: { e1: { site: 'dest.test', step, peer: at_, since: NOW - MINUTE_MS } } as never,
  })

const onTheWay: Case[] = [
  [
    'a peer that does not greet',
    'sending',
    { email: sending, live: at('greeting') },
    'It is being sent: connected to mx.dest.test [192.0.2.1], waiting for its greeting since 2026-11-21 11:59:00Z.',
  ],
  [
    'no connection yet',
    'sending',
    { email: sending, live: at('waiting', null) },
    'It is being sent: waiting for a free connection to dest.test since 2026-11-21 11:59:00Z.',
  ],
  [
    'a step without a description',
    'sending',
    { email: sending, live: at('dance') },
    'It is being sent: dance at mx.dest.test [192.0.2.1] since 2026-11-21 11:59:00Z.',
  ],
  ['no progress', 'sending', { email: sending }, 'It is being sent.'],
  [
    'a server that is gone',
    'server_stopped',
    { email: sending, live: { server: 'none' } },
    'The server stopped while the email was being sent; it will be tried again once a server runs.',
    'serve',
  ],
]

const suppression = {
  reason: 'HARD_BOUNCE',
  source: '550 5.1.1 no such user',
  createdAt: NOW - MINUTE_MS,
} as const
const refusal = {
  ...word,
  result: 'bounced',
  class: 'hard',
  replyCode: 550,
  enhancedCode: '5.1.1',
  replyText: 'no such user',
}
const taken = {
  ...word,
  result: 'delivered',
  class: 'accepted',
  replyCode: 250,
  enhancedCode: '2.0.0',
  replyText: 'Ok',
}
const bounced = { state: 'bounced', status: 'BOUNCED', dueAt: null, bouncedAt: NOW } as const
const failed = { state: 'failed', status: 'FAILED', dueAt: null, attemptCount: 3 } as const
const delivered = {
  state: 'delivered',
  status: 'DELIVERED',
  sentAt: NOW,
  deliveredAt: NOW,
} as const

const ended: Case[] = [
  [
    'delivered',
    'delivered',
    { email: delivered, last: taken },
    'It was delivered at 2026-11-21 12:00:00Z: mx.dest.test accepted it with 250 2.0.0 Ok.',
  ],
  [
    'delivered, and complained about',
    'delivered',
    { email: { ...delivered, complainedAt: NOW }, last: taken },
    'It was delivered at 2026-11-21 12:00:00Z: mx.dest.test accepted it with 250 2.0.0 Ok. Its recipient complained about it at 2026-11-21 12:00:00Z.',
  ],
  [
    'relayed',
    'relayed',
    {
      email: { state: 'relayed', status: 'SENT', sentAt: NOW },
      last: { ...taken, result: 'relayed' },
    },
    'It was relayed to mx.dest.test at 2026-11-21 12:00:00Z: 250 2.0.0 Ok; whether it was delivered is not known.',
  ],
  [
    'relayed, and reported as delivered',
    'relayed_delivered',
    { email: delivered, last: { ...taken, result: 'relayed' } },
    'It was relayed to mx.dest.test, which reported its delivery at 2026-11-21 12:00:00Z.',
  ],
  [
    'refused by a host, and suppressed for it',
    'bounced',
    { email: bounced, last: refusal, suppression },
    'It was refused by mx.dest.test at 2026-11-21 12:00:00Z: 550 5.1.1 no such user. The address has been on the suppression list since 2026-11-21 11:59:00Z.',
    'suppressions remove --project p1 ada@dest.test',
  ],
  [
    'refused by the DNS',
    'bounced',
    {
      email: bounced,
      last: {
        ...refusal,
        host: null,
        replyCode: null,
        enhancedCode: null,
        replyText: null,
        error: 'the domain dest.test does not exist',
      },
    },
    'It was refused at 2026-11-21 12:00:00Z: the domain dest.test does not exist.',
  ],
  [
    'bounced later',
    'bounce_reported',
    {
      email: bounced,
      last: { ...refusal, result: 'reported-bounced', finalRecipient: 'ada.l@forward.test' },
    },
    'It bounced at 2026-11-21 12:00:00Z, as reported by mx.dest.test for ada.l@forward.test: 550 5.1.1 no such user.',
  ],
  [
    'given up',
    'given_up',
    { email: { ...failed, error: 'given up; the last attempt ended with: 451 busy' }, last: word },
    'It was given up at 2026-11-21 11:59:00Z after 3 attempts: 451 busy.',
    'queue retry e1',
  ],
  [
    'given up by an earlier version',
    'given_up',
    { email: { ...failed, error: 'given up; the last answer was: 451 busy' }, last: word },
    'It was given up at 2026-11-21 11:59:00Z after 3 attempts: 451 busy.',
    'queue retry e1',
  ],
  [
    'given up without an attempt',
    'given_up_untried',
    { email: { ...failed, error: untriedError('421 too much') } },
    'It was not sent: given up, its destination could not be tried in time: 421 too much.',
    'queue retry e1',
  ],
  [
    'failed by an error of the program',
    'error',
    { email: { ...failed, error: 'the message could not be composed' } },
    'It was not sent: the message could not be composed.',
    'queue retry e1',
  ],
  [
    'received',
    'received',
    { email: { state: 'received' as never, status: 'RECEIVED', dueAt: null } },
    'It was received at 2026-11-21 11:59:00Z.',
  ],
  [
    'cancelled',
    'cancelled',
    { email: { ...failed, error: 'cancelled' } },
    'It was cancelled at 2026-11-21 11:59:00Z.',
    'queue retry e1',
  ],
  [
    'cancelled after an interrupted attempt',
    'cancelled',
    { email: { ...failed, error: 'cancelled' }, last: interrupted },
    'The attempt of 2026-11-21 11:59:00Z was interrupted, so the message may have arrived. It was cancelled at 2026-11-21 11:59:00Z.',
    'queue retry e1',
  ],
  [
    'cancelled after a connection that was lost before the reply',
    'cancelled',
    { email: { ...failed, error: 'cancelled' }, last: { ...word, isMaybeDelivered: true } },
    'The attempt of 2026-11-21 11:59:00Z ended before the reply, so the message may have arrived. It was cancelled at 2026-11-21 11:59:00Z.',
    'queue retry e1',
  ],
  [
    'cancelled with its campaign',
    'cancelled',
    { email: { ...failed, error: 'cancelled' }, obstacle: 'campaign_cancelled' },
    'It was cancelled at 2026-11-21 11:59:00Z. It cannot be retried: its campaign was cancelled.',
  ],
  [
    'forbidden',
    'refused',
    {
      email: { ...failed, error: 'the contact has unsubscribed' },
      obstacle: 'unsubscribed',
    },
    'It was not sent: the contact has unsubscribed.',
  ],
  [
    'forbidden then, and allowed now',
    'refused',
    { email: { ...failed, error: 'the contact has unsubscribed' } },
    'It was not sent: the contact has unsubscribed.',
    'queue retry e1',
  ],
  [
    'suppressed',
    'suppressed',
    { email: { state: 'suppressed', status: 'SUPPRESSED', dueAt: null }, suppression },
    'It was not sent: ada@dest.test has been on the suppression list since 2026-11-21 11:59:00Z (HARD_BOUNCE: 550 5.1.1 no such user). To reach the address, remove it from the list and send the email again.',
    'suppressions remove --project p1 ada@dest.test',
  ],
  [
    'suppressed by an entry that is gone',
    'suppression_lifted',
    { email: { state: 'suppressed', status: 'SUPPRESSED', dueAt: null } },
    'It was not sent: ada@dest.test was on the suppression list at 2026-11-21 11:59:00Z, but is no longer. To reach the address, send the email again.',
  ],
]

function check(cases: readonly Case[]): void {
  for (const [name, code, given, reason, command] of cases) {
    it(name, () => {
      const said = explain(given)
      assert.equal(said.reason, reason)
      assert.equal(said.reasonCode, code)
      assert.equal(said.command?.join(' '), command)
    })
  }
}

/** Codes of rows whose attempts are not read (`row-reason.ts`). */
const OF_ROWS = ['deferred']
const ALL = [...waiting, ...onTheWay, ...ended]

test('each code has the values that it declares, and its sentence is made of them alone', () => {
  for (const [name, code, given, reason] of ALL) {
    const { reasonData } = JSON.parse(JSON.stringify(explain(given)))
    assert.deepEqual(Object.keys(reasonData).sort(), EMAIL_REASONS[code].toSorted(), name)
    assert.deepEqual(reasonDataSchema.strict().parse(reasonData), reasonData, name)
    assert.equal(sentenceOf({ reasonCode: code, reasonData }), reason, name)
  }
})

test('the cases have every code of an email', () => {
  const seen = new Set(ALL.map(([, code]) => code))
  const codes = Object.keys(EMAIL_REASONS).filter((code) => !OF_ROWS.includes(code))
  assert.deepEqual([...seen].sort(), codes.sort())
})

describe('a waiting email is explained by', () => check(waiting))
describe('an email that is being sent is explained by', () => check(onTheWay))
describe('a finished email is explained as', () => check(ended))

describe('the next attempt', () => {
  it('is at the end of the back-off of the site if that is later', () => {
    const live = running({ sites: sites(inBackOff) })
    assert.equal(explain({ email: deferred, live }).nextAttemptAt, NOW + 2 * MINUTE_MS)
    const far = { ...deferred, dueAt: NOW + 9 * MINUTE_MS }
    assert.equal(explain({ email: far, live }).nextAttemptAt, NOW + 9 * MINUTE_MS)
  })

  it('is null for held and finished mail, and the following attempt for mail being sent', () => {
    assert.equal(explain({ email: { state: 'held', dueAt: null } }).nextAttemptAt, null)
    assert.equal(explain({ email: bounced, last: refusal }).nextAttemptAt, null)
    assert.equal(explain({ email: sending }).nextAttemptAt, NOW + MINUTE_MS)
  })

  it('is unknown for an attempt that lasts longer than the retry delay', () => {
    assert.equal(explain({ email: { ...sending, retryAt: NOW } }).nextAttemptAt, null)
  })
})

it('long replies are cut', () => {
  const { reason } = explain({
    email: deferred,
    last: { ...word, replyText: 'x'.repeat(100_000) },
  })
  assert.ok(reason.length < 1_000)
})
