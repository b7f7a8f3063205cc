/**
 * Replies that say which limit was reached, and what each limits:
 *
 *   session       the recipients or messages of one session: another session goes on at once
 *   connections   connections at the same time, or new ones in a while: fewer of them carry as much mail
 *   throttle      mail in a while: less of it
 *
 * The order matters: "too many messages in this connection" is about the session, and "too many
 * recipients this hour" about the rate. `test/formats/replies/limit-rules.test.ts` has the wordings of providers.
 */
import { anyOf, type ReplyRule } from './reply-rule.ts'

const WHILE =
  'from\\b|in (?:the|an|one|this) (?:last|hour|day|minute)|per (?:hour|day|minute)|this (?:hour|day)\\b|today\\b'

/** Matches words which say that a limit on recipients holds for some time. */
const IN_A_WHILE = `(?:received\\b|${WHILE})`

const RECIPIENT_LIMIT =
  '(?:\\b(?:recipients?|rcpts?) (?:limit|count)\\b.{0,20}(?:exceed|reach)|\\bnumber of (?:recipients|rcpts)\\b.{0,20}(?:exceed|reach)|\\bmax(?:imum)? (?:allowed )?(?:number of )?(?:recipients|rcpts)\\b)'

/**
 * Matches up to three words that describe the connections. Words after "in" or "from" belong to
 * another limit.
 */
const WHICH = '(?:(?!(?:in|on|per|for|from|over|to|of|during)\\b)\\S{1,20} ){0,3}'

export const TOO_MANY_CONNECTIONS = `too many ${WHICH}(?:connections|sessions)\\b`

/** The subject and detail of X.2.2, the code of a full mailbox. */
const QUOTA_CODES = ['2.2']

export const LIMIT_RULES: readonly ReplyRule[] = [
  {
    class: 'throttle',
    reason: 'toomanyconn',
    unless: QUOTA_CODES,
    text: anyOf(
      new RegExp(`${RECIPIENT_LIMIT}.{0,20} (?:${WHILE})`),
      /\b(?:hourly|daily) (?:recipients?|rcpts?) (?:limit|count)\b.{0,20}(?:exceed|reach)/,
      new RegExp(`\\b(?:recipients?|rcpts?) (?:limit|count) ${IN_A_WHILE}`),
    ),
  },
  {
    class: 'session',
    reason: 'toomanyconn',
    unless: QUOTA_CODES,
    text: new RegExp(RECIPIENT_LIMIT),
  },
  // X.5.3 limits the recipients of a message (RFC 3463). Here each message has one recipient, so
  // the limit is one of messages.
  {
    class: 'session',
    reason: 'toomanyconn',
    digit: 4,
    enhanced: ['5.3'],
    text: new RegExp(`too many (?:messages|e-?mails|mails)\\b(?! ${IN_A_WHILE})`),
  },
  {
    class: 'session',
    reason: 'toomanyconn',
    text: anyOf(
      new RegExp(`too many recipients(?! ${IN_A_WHILE}| in header)`),
      /too many (?:messages|e-?mails|mails|transactions) (?:\S{1,10} )?(?:in|on|per|during|for|over) (?:\S{1,6} )?(?:smtp )?(?:session|connection)\b/,
      /max(?:imum)? (?:number of )?(?:e-?mails?|messages?|recipients?|transactions?) (?:per|in|for|on) (?:\S{1,6} )?(?:smtp )?(?:session|connection|transaction)\b/,
      /number of (?:e-?mails|messages|recipients|transactions) (?:per|in|for|on) (?:\S{1,6} )?(?:smtp )?(?:session|connection|transaction)\b/,
      /(?:message|recipient|mail) limit (?:per|in|for|of|on) (?:\S{1,6} )?(?:smtp )?(?:session|connection|transaction)\b/,
      /(?:in|open) a (?:new|separate) (?:session|transaction|connection)/,
      /recipients belong to multiple regions/,
    ),
  },
  {
    class: 'connections',
    reason: 'toomanyconn',
    text: anyOf(
      new RegExp(TOO_MANY_CONNECTIONS),
      /too many (?:(?:concurrent|simultaneous|parallel|open|active|incoming|inbound|new|smtp|tcp|tls) ){0,3}(?:connection|session)\b/,
      /(?:connection|session)s? (?:rate|count|frequency|limit).{0,20}(?:exceed|reach|limit)/,
      new RegExp(`max(?:imum)? (?:number of )?${WHICH}(?:connections|sessions)\\b`),
      /(?:number of )(?:(?:concurrent|simultaneous|parallel|open|server|smtp|tcp) ){1,3}(?:connections|sessions)/,
      new RegExp(`number of ${WHICH}(?:connections|sessions)\\b.{0,20}(?:exceed|reach)`),
      /concurrency limit/,
      /(?:maximum|per-domain) connection limit/,
      /exceeded the connection limit/,
      /trop de (?:connexions|sessions)/,
      /zu viele (?:\S{1,15} )?(?:verbindungen|sitzungen)/,
      /demasiadas (?:conexiones|sesiones)/,
      /troppe (?:connessioni|sessioni)/,
    ),
  },
  {
    class: 'throttle',
    reason: 'toomanyconn',
    text: anyOf(
      new RegExp(`too many recipients (?:${IN_A_WHILE}|in header)`),
      /frequency limited/,
      /max(?:imum)? (?:e-?mails?|messages?) per (?:hour|day|minute)/,
      /message threshold exceeded/,
      /numerous attempts to deliver/,
      /account service is temporarily unavailable/,
      /too many errors from/,
      /too many (?:invalid|unknown|bad|wrong|failed) (?:recipients|users|rcpts)/,
      /thread limit/,
    ),
  },
]
