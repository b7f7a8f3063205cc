/**
 * Replies that say which limit was reached, and what each limits:
 *
 *   session       the recipients or messages of one session: another session goes on at once
 *   connections   connections at the same time, or new ones in a while: fewer of them carry as much mail
 *   throttle      mail in a while: less of it
 *
 * The order matters: "too many messages in this connection" is about the session, and "too many
 * recipients this hour" about the rate. `test/mail/replies/limit-rules.test.ts` has the wordings of providers.
 */
import { anyOf, type ReplyRule } from './reply-rule.ts'

/** What makes a number of recipients one of a while. */
const IN_A_WHILE =
  '(?:received\\b|from\\b|in (?:the|an|one|this) (?:last|hour|day|minute)|per (?:hour|day|minute)|this (?:hour|day)\\b|today\\b)'

export const LIMIT_RULES: readonly ReplyRule[] = [
  // X.5.3 is about recipients (RFC 3463), which are messages here: each has one.
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
      /too many (?:(?:concurrent|simultaneous|parallel|open|active|incoming|inbound|new|smtp|tcp|tls) ){0,3}(?:connections?|sessions?)/,
      /(?:connection|session)s? (?:rate|count|frequency|limit).{0,20}(?:exceed|reach|limit)/,
      /max(?:imum)? (?:number of )?(?:(?:concurrent|simultaneous|parallel|open|server|smtp|tcp) ){0,3}(?:connections|sessions)/,
      /(?:number of )(?:(?:concurrent|simultaneous|parallel|open|server|smtp|tcp) ){1,3}(?:connections|sessions)/,
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
