/**
 * How remote servers' answers are read: DELIVERY's table as data, for replies in session and for
 * late bounces alike. Rules with a `text` are tried first, then those with `enhanced`, then the
 * bare codes; within each list the first that fits wins, so the special stand before the general.
 *
 * A text is matched in lower case, addresses removed, white space single, 2,000 characters at
 * most. Patterns use bounded gaps only, so that a hostile text costs linear time.
 * `enhanced` holds "subject.detail": the class digit is the reply's own, which bounds the verdict.
 */
export type Stage =
  | 'connect'
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'message'
  | 'late'

export type ReplyClass =
  | 'accepted'
  | 'hard'
  | 'disabled'
  | 'quota'
  | 'too_fast'
  | 'greylist'
  | 'throttle'
  | 'block'
  | 'policy'
  | 'content'
  | 'size'
  | 'syntax'
  | 'network'
  | 'dns'
  | 'unknown'

/** The reasons of `bounce inspect`. */
export type BounceReason =
  | 'userunknown'
  | 'hostunknown'
  | 'hasmoved'
  | 'mailboxfull'
  | 'suspended'
  | 'filtered'
  | 'rejected'
  | 'blocked'
  | 'spamdetected'
  | 'policyviolation'
  | 'authfailure'
  | 'toobig'
  | 'toomanyconn'
  | 'ratelimited'
  | 'expired'
  | 'networkerror'
  | 'systemerror'
  | 'mailererror'
  | 'contenterror'
  | 'securityerror'
  | 'virusdetected'
  | 'vacation'
  | 'feedback'
  | 'delivered'
  | 'undetermined'

/**
 * What the answer says of the destination site. `slow`: grow no further; `throttle`: one
 * connection and a low rate for 30-90 minutes; `block`: our address is refused there, off-limits
 * for hours; `suspend`: stop and alarm; `reconnect`: only this connection is over.
 */
export type SiteAction = 'none' | 'slow' | 'throttle' | 'block' | 'suspend' | 'reconnect'

export type ReplyRule = {
  readonly class: ReplyClass
  readonly reason: BounceReason
  readonly text?: RegExp
  /** "subject.detail" of the enhanced code. */
  readonly enhanced?: readonly string[]
  readonly codes?: readonly number[]
  /** First digit of the reply. */
  readonly digit?: 4 | 5
  readonly stages?: readonly Stage[]
  /** The MX host's name: the provider. */
  readonly mx?: RegExp
  readonly retryAfterMs?: number
  readonly site?: SiteAction
  /** As that of a class; it stands before it. */
  readonly isRetried?: boolean
}

const hour = 3_600_000
/** Before the server has heard of a message. */
export const beforeMail: readonly Stage[] = ['connect', 'greeting', 'ehlo']

export const textRules: readonly ReplyRule[] = [
  // Our own credentials or the way there, not this message: it waits until that is put right.
  {
    class: 'network',
    reason: 'securityerror',
    stages: ['starttls', 'auth'],
    text: /^/,
    isRetried: true,
  },

  // The mailbox takes mail too fast: 5.2.1 here is not a disabled account.
  {
    class: 'too_fast',
    reason: 'ratelimited',
    text: /receiving (?:mail|messages|e-?mail) (?:at a rate|too (?:quickly|fast))|recipient(?:'s)? .{0,30}(?:rate limit|thread limit)|too many (?:messages|mails) (?:for|to) (?:this|the) (?:recipient|mailbox|user)/,
  },

  // Throttles by name, before the words "complaints", "blocked" and "spam" in them mislead.
  {
    class: 'throttle',
    reason: 'blocked',
    site: 'suspend',
    retryAfterMs: 6 * hour,
    text: /\[ts03\]|retrying will not succeed/,
  },
  {
    class: 'throttle',
    reason: 'blocked',
    text: /\[(?:tss?0\d|ipts0\d)\]|unexpected volume or user complaints|rate limited due to ip reputation/,
  },
  {
    class: 'throttle',
    reason: 'toomanyconn',
    text: /too many (?:concurrent |simultaneous |open |smtp )?(?:connections?|sessions?)|(?:connection|session)s? (?:rate|count|frequency|limit).{0,20}(?:exceed|reach|limit)|maximum (?:number of )?(?:concurrent |simultaneous )?connections|frequency limited|concurrency limit|too many recipients/,
  },
  {
    class: 'throttle',
    reason: 'ratelimited',
    text: /unusual rate|rate.?limit(?:ed|ing|s)?\b|throttl|peak smtp|\brl0000\d{1,2}\b|\brp-00\d\b|too many (?:messages|e-?mails|mails|commands|errors|attempts)|(?:sending|message|mail|hourly|daily) (?:rate|limit|quota).{0,20}exceed|exceed(?:ed|s|ing)? .{0,40}\b(?:rate|per (?:hour|minute|day|second))\b|sending too (?:fast|many|quickly)|slow down/,
  },

  // What is wrong with the sending domain's authentication or our host's names.
  {
    class: 'content',
    reason: 'contenterror',
    text: /duplicate header|headers? too (?:large|long|big)|(?:missing|invalid|malformed|bad|multiple) .{0,20}headers?\b|bare (?:lf|cr|newline)|line (?:is )?too long|mime (?:error|syntax)|content error/,
  },
  {
    class: 'policy',
    reason: 'blocked',
    text: /\brdns\b|reverse[ -](?:dns|lookup|record|name|hostname)|reverse .{0,10}(?:dns|lookup)|\bptr\b|cannot find your (?:reverse )?host ?name|unverifyable sending ip|helo.{0,30}(?:invalid|reject|not resolve|forged)|fix reverse/,
  },
  {
    class: 'policy',
    reason: 'authfailure',
    text: /\bspf\b|\bdmarc\b|\bdkim\b|unauthenticated (?:e-?mail|mail|message|sender)|required authentication level|(?:does|did) not pass authentication|sender id \(|authentication checks?/,
  },
  {
    class: 'policy',
    reason: 'securityerror',
    text: /(?:tls|encryption|starttls|secure connection) (?:is |was )?(?:required|needed|mandatory)|must issue a starttls|(?:smtp )?auth(?:entication|orization)? (?:is )?(?:required|needed|failed|failure|credentials)|turn on smtp auth|not authenticated|delivery not authori[sz]ed|authenticat(?:e|ion) (?:first|before)|invalid (?:login|credentials)/,
  },

  // Content: URL lists before the lists of addresses.
  {
    class: 'content',
    reason: 'virusdetected',
    text: /virus(?:es)? (?:was |has been )?(?:detected|found|infected)|(?:contains?|infected (?:with|by)|detected) (?:an? )?(?:virus|malware|worm|trojan)|malware (?:detected|found)|\binfected\b/,
  },
  {
    class: 'content',
    reason: 'spamdetected',
    text: /\buribl\b|\bsurbl\b|(?:black|block) ?listed (?:url|link|domain in)|url .{0,30}(?:black|block) ?list|message content rejected|content (?:was |is )?rejected|\bub[ec]\b|\buce\b|unsolicited|phish|junk mail|spam ?(?:message|mail|content|score|filter|detected|rule|assassin|probability|like)|(?:looks|seems|considered|classified|identified|detected|tagged|recogni[sz]ed|rejected|marked|suspected|flagged)(?: like| as| to be| for)? (?:a )?(?:possible |likely |being )?(?:spam|bulk)|(?:is|as|like|high|-) spam\b|^spam\b|mail reject[eé]/,
  },

  // Our address or domain on somebody's list.
  {
    class: 'block',
    reason: 'blocked',
    text: /spamhaus|barracuda|spamcop|\bsorbs\b|uceprotect|abuseat|dnsbl|\brbl\b|\bcdrbl\b|blocked using|blocked for abuse|blocked by|(?:black|block|deny|ban) ?-?list|banned (?:sending )?ip|s3150|\[bl\d\d\]|\bbl0000\d{1,2}\b|(?:low|poor|bad|negative) (?:\S+ )?reputation|(?:ip|host|sender|client|server|network|domain)\b.{0,40}\b(?:is |has been |was )?(?:blocked|banned|listed)\b|(?:host|network|client|ip|server)s? (?:is )?not (?:allowed|permitted|accepted|welcome)|blocked ip|bad ip|smtp server of your isp|use your isp|not accepting (?:mail|connections)|connections? (?:not accepted|rejected|denied)|no access from mail server|open relay|no smtp service|refused to accept (?:mail|your)/,
  },
  {
    class: 'policy',
    reason: 'blocked',
    text: /client host rejected/,
  },

  {
    class: 'syntax',
    reason: 'systemerror',
    codes: [501, 553],
    text: /\bbad (?:e-?mail )?address (?:form|syntax)\b|syntax error in (?:address|parameter)/,
  },

  // The envelope's sender is what they refuse.
  {
    class: 'syntax',
    reason: 'rejected',
    text: /\b(?:sender|mail from|from address|return.?path|reverse.?path)(?: address| domain| e-?mail)?(?: is| was| has been)? (?:rejected|refused|denied|not (?:allowed|accepted|verified|valid|permitted)|invalid|unknown|does not exist|blocked)|(?:reject|unknown|invalid|bad|unresolvable|deny)(?:ed)? sender|sender verif|domain of sender|sender.{0,40}does(?:n't| not) (?:exist|resolve)|purported responsible|(?:sending|sent) to\/from|not a member of|permission to post|send mail as|sender (?:is |was )?(?:reject|not )/,
  },

  // The policies of the receiver.
  {
    class: 'unknown',
    reason: 'policyviolation',
    text: /relay(?:ing)? (?:access |is |was )?(?:denied|not (?:permitted|allowed|authori[sz]ed)|prohibited|refused)|(?:not|unable to|won't|cannot|can't|don't|no)(?: permitted to| allowed to| configured to)? relay|rcpthosts|not a (?:gateway|open relay)|we do not relay/,
  },
  {
    class: 'content',
    reason: 'policyviolation',
    text: /multiple addresses in from|potential security issue|presents a potential|(?:attachment|file type|extension).{0,40}(?:not allowed|blocked|forbidden|reject|prohibited|denied)|header error/,
  },
  {
    class: 'policy',
    reason: 'policyviolation',
    text: /polic(?:y|ies)\b.{0,30}(?:reason|violat|restrict|reject|denied|prohibit)|(?:denied|rejected|refused|blocked|against|violat\w{1,4}|due to|local|by) (?:by |the |our |a |for |of |site )?polic(?:y|ies)|administrative(?:ly)? (?:prohibit|denied|reject)|message not allowed/,
  },

  {
    class: 'content',
    reason: 'filtered',
    text: /recipient preferences|message filtered|rejected by (?:the |this )?(?:recipient|domain filter|user)/,
  },

  // The mailbox: full, switched off, gone.
  {
    class: 'unknown',
    reason: 'systemerror',
    text: /insufficient system (?:storage|resources)|system (?:storage )?(?:is )?full|no space left/,
  },
  {
    class: 'quota',
    reason: 'mailboxfull',
    text: /over ?quota|quota (?:is |has been |was )?(?:exceeded|full|violation|limit|reached)|quota.?exceed|exceed\w{0,3} .{0,30}(?:quota|storage|local limit)|(?:mail ?box|inbox|account|folder|maildir|mailfolder|user|recipient)(?:'s)? (?:\S{1,20} )?(?:is |are |has |storage )?(?:over |too )?full\b|out of (?:storage|disk|space)|insufficient (?:disk |mailbox |storage )?(?:space|storage)|storage (?:limit|quota|full|exceed)|mailbox (?:size )?(?:limit|exceed)|not enough (?:disk |storage )?space|full mailbox/,
  },
  {
    class: 'disabled',
    reason: 'suspended',
    text: /(?:account|mail ?box|user|recipient|inbox|customer)\b(?: \S{1,40}){0,6} (?:is |has been |was |temporarily |currently )?(?:disabled|inactive|suspended|frozen|closed|deactivated|discontinued|locked|terminated|not active|blocked|bloqu[eé])\b|(?:disabled|inactive|suspended|deactivated|closed|frozen) (?:account|mail ?box|user|recipient)|disableduser|\(554\.30\)|not accepting messages/,
  },
  {
    class: 'size',
    reason: 'toobig',
    text: /(?:message|mail|e-?mail|size|length|content|attachment)s?(?: is| was| size| length){0,2} (?:too (?:large|big|long)|exceed|larger than|over (?:the )?(?:maximum|limit))|(?:maximum|max|fixed|allowed|administrative) (?:\S{1,20} )?(?:message |mail )?size|recipsizelimit|too (?:large|big) (?:message|mail|for)|size limit/,
  },
  {
    class: 'hard',
    reason: 'hasmoved',
    digit: 5,
    text: /no longer (?:on|at|with|in) (?:this |the |our )?(?:server|system|company|domain|service)|(?:user|recipient|mailbox|address|account) (?:has )?(?:moved|changed)|not our (?:user|customer)|address has changed/,
  },

  // The domain.
  {
    class: 'hard',
    reason: 'hostunknown',
    text: /null ?mx|doesn't receive e-?mail|indicated no smtp service|domain (?:does|do) not accept (?:e-?)?mail/,
  },
  {
    class: 'dns',
    reason: 'networkerror',
    text: /host (?:name )?not found,? try again|temporary (?:dns|lookup|resolution|name)|dns (?:lookup )?(?:error|failure|timeout|temporar)|name ?server (?:failure|timeout)|name service error .{0,80}try again|servfail|unable to (?:look ?up|resolve)/,
  },
  {
    class: 'hard',
    reason: 'hostunknown',
    text: /(?:host|domain)(?: or domain)?(?: name)? (?:is )?(?:unknown|not found|does(?:n't| not) exist|invalid)|domain is not reachable|(?:unknown|invalid|illegal|no such|unrouteable|bad|nonexistent) (?:mail |destination |recipient )?(?:host|domain)|nxdomain|find any host|no mx (?:record )?found|find a mail exchanger/,
  },

  // Nobody there.
  {
    class: 'hard',
    reason: 'userunknown',
    text: /(?:user|recipient|mail ?box|account|address|alias|customer|person|inbox|addressee|destination|userid|name)s?(?: name| address| account)?(?: you \S{1,20} \S{1,20} \S{1,20})?(?: is| was| are| that you tried to reach)?(?: an?)? ?(?:unknown|not (?:be )?(?:found|known|exist|recogni[sz]ed|listed|valid|here|local|a valid)|does(?:n't| not) (?:exist|have)|doesnt exist|invalid|unavailable|non-?exist)|(?:unknown|no such|nonexistent|non-existent|undeliverable|unrecogni[sz]ed|invalid|bad|wrong)(?: final| local| remote| virtual| email| e-mail| to| smtp| destination| delivery)* (?:user|recipient|mail ?box|address|account|addressee|alias|person|customer|inbox|local.?part|userid|rcpt)|(?:user|account|mailbox|recipient) (?:unavailable|unknown)|(?:recip|recipient)notfound|no (?:valid recipients?|mailbox|account|user|inbox|one) (?:here|by|with|found|for|were)|no valid recipients|not (?:a )?(?:known|valid|our|local) (?:user|recipient|mailbox|customer|address)|does not exist here|destinataire invalide|address rejected\.?$|address rejected: access denied|mailbox not found|not listed in/,
  },

  // Reports of other systems that gave up.
  {
    class: 'network',
    reason: 'expired',
    stages: ['late'],
    text: /\bexpired\b|in the queue too long|giving up|multiple retries|retry time(?:out)? (?:not reached|exceed)|unable to deliver this message after|could not deliver for the last|(?:connection|operation|session) timed out|timed? ?out|did not accept our requests|not reachable|delivery time/,
  },
  {
    class: 'unknown',
    reason: 'networkerror',
    text: /too many hops|hop count|(?:routing|mail|forwarding) loop|loops? back/,
  },
  {
    class: 'network',
    reason: 'networkerror',
    stages: ['late'],
    text: /connection (?:was )?(?:refused|reset|lost|closed|dropped)|lost connection|no route to host|network (?:is )?unreachable|establish an smtp connection|host unreachable/,
  },
  {
    class: 'unknown',
    reason: 'mailererror',
    text: /mailer error|command failed|procmail|pipe to|local delivery (?:failed|agent)|x-unix/,
  },
  {
    class: 'unknown',
    reason: 'systemerror',
    text: /(?:local|system|server|internal|configuration|lookup|temporary|ldap|database) (?:\S{1,10} )?(?:error|failure|problem|unavailable)|service (?:is |currently |temporarily )?(?:currently |temporarily )?(?:unavailable|not available)|(?:server|system|service) (?:is )?(?:too )?(?:busy|down|overloaded)|could not load|unable to contact|resources temporarily|out of (?:memory|resources)|improper sequence|insufficient resources/,
  },

  {
    class: 'greylist',
    reason: 'ratelimited',
    digit: 4,
    text: /gr[ea]y[- ]?list|\bpostgrey\b|\bgreyed\b|come back (?:later|in)/,
  },
  {
    class: 'greylist',
    reason: 'ratelimited',
    codes: [450, 451],
    stages: ['mail', 'rcpt', 'data', 'message'],
    text: /(?:try|retry)(?: it| this| sending)? (?:again )?(?:later|in \d|after)/,
  },
]

export const enhancedRules: readonly ReplyRule[] = [
  {
    class: 'policy',
    reason: 'authfailure',
    enhanced: ['0.2'],
    codes: [501],
    mx: /(?:^|\.)(?:orange|wanadoo)\./,
  },
  { class: 'hard', reason: 'hostunknown', enhanced: ['1.2', '1.10', '4.4', '7.18'] },
  { class: 'hard', reason: 'hasmoved', enhanced: ['1.6', '7.17'] },
  { class: 'hard', reason: 'userunknown', enhanced: ['1.1', '1.3'] },
  { class: 'syntax', reason: 'rejected', enhanced: ['1.7', '1.8', '1.9'] },
  { class: 'too_fast', reason: 'ratelimited', enhanced: ['2.1'], digit: 4 },
  { class: 'disabled', reason: 'suspended', enhanced: ['2.1', '7.13'] },
  { class: 'quota', reason: 'mailboxfull', enhanced: ['2.2'] },
  { class: 'size', reason: 'toobig', enhanced: ['2.3', '3.4'] },
  { class: 'content', reason: 'filtered', enhanced: ['2.0'] },
  { class: 'unknown', reason: 'systemerror', enhanced: ['3.0', '3.1', '3.2', '3.3', '3.5', '4.5'] },
  { class: 'network', reason: 'networkerror', enhanced: ['4.1', '4.2'], digit: 4 },
  { class: 'dns', reason: 'networkerror', enhanced: ['4.3'] },
  { class: 'unknown', reason: 'networkerror', enhanced: ['4.6'] },
  { class: 'network', reason: 'expired', enhanced: ['4.7'] },
  { class: 'throttle', reason: 'toomanyconn', enhanced: ['5.3'], digit: 4 },
  {
    class: 'syntax',
    reason: 'systemerror',
    enhanced: ['5.0', '5.1', '5.2', '5.3', '5.4', '5.5', '5.6'],
    digit: 5,
  },
  { class: 'syntax', reason: 'contenterror', enhanced: ['6.7', '6.8', '6.9', '6.10'] },
  {
    class: 'content',
    reason: 'contenterror',
    enhanced: ['6.0', '6.1', '6.2', '6.3', '6.4', '6.5', '6.6'],
  },
  { class: 'throttle', reason: 'ratelimited', enhanced: ['7.0'], codes: [421] },
  { class: 'throttle', reason: 'ratelimited', enhanced: ['7.28', '7.500'] },
  { class: 'throttle', reason: 'blocked', enhanced: ['7.650', '7.651', '7.652'] },
  { class: 'greylist', reason: 'ratelimited', enhanced: ['7.1'], codes: [450, 451] },
  { class: 'policy', reason: 'blocked', enhanced: ['7.25'] },
  {
    class: 'policy',
    reason: 'authfailure',
    enhanced: [
      '7.20',
      '7.21',
      '7.22',
      '7.23',
      '7.24',
      '7.26',
      '7.27',
      '7.30',
      '7.32',
      '7.509',
      '7.515',
    ],
  },
  {
    class: 'policy',
    reason: 'securityerror',
    enhanced: ['7.4', '7.5', '7.6', '7.7', '7.8', '7.9', '7.10', '7.11', '7.29'],
  },
  { class: 'block', reason: 'blocked', enhanced: ['7.501', '7.502', '7.503', '7.511', '7.512'] },
  {
    class: 'block',
    reason: 'blocked',
    enhanced: Array.from({ length: 44 }, (_, n) => `7.${606 + n}`),
  },
  { class: 'block', reason: 'blocked', enhanced: ['7.0', '7.1'], digit: 5, stages: beforeMail },
  { class: 'content', reason: 'policyviolation', enhanced: ['7.0'], digit: 5 },
  { class: 'content', reason: 'rejected', enhanced: ['7.1', '7.2', '7.3'], digit: 5 },
]

export const codeRules: readonly ReplyRule[] = [
  { class: 'hard', reason: 'hostunknown', codes: [556] },
  { class: 'block', reason: 'blocked', digit: 5, stages: beforeMail },
  { class: 'disabled', reason: 'suspended', codes: [525] },
  { class: 'size', reason: 'toobig', codes: [523] },
  { class: 'size', reason: 'toobig', codes: [552], stages: ['mail', 'message'] },
  { class: 'quota', reason: 'mailboxfull', codes: [552] },
  { class: 'policy', reason: 'securityerror', codes: [530, 534, 535, 538] },
  { class: 'syntax', reason: 'systemerror', codes: [500, 501, 502, 503, 504, 555] },
  { class: 'syntax', reason: 'rejected', codes: [553], stages: ['mail'] },
  { class: 'syntax', reason: 'undetermined', codes: [553] },
]

export type ClassMeaning = {
  /** A 5yz of this class in session is tried again. */
  readonly isRetried: boolean
  readonly retryAfterMs: number | null
  readonly site: SiteAction
  readonly isCounted: boolean
}

const refused: ClassMeaning = {
  isRetried: false,
  retryAfterMs: null,
  site: 'none',
  isCounted: true,
}

/** What a class means by itself; what a rule says of its own stands before it. */
export const classMeanings: Readonly<Record<ReplyClass, ClassMeaning>> = {
  accepted: { ...refused, isCounted: false },
  hard: refused,
  disabled: refused,
  quota: refused,
  too_fast: { ...refused, isRetried: true, retryAfterMs: hour },
  greylist: { ...refused, retryAfterMs: hour / 12 },
  throttle: { isRetried: true, retryAfterMs: hour / 6, site: 'throttle', isCounted: false },
  block: { isRetried: true, retryAfterMs: hour, site: 'block', isCounted: true },
  policy: refused,
  content: refused,
  size: refused,
  syntax: refused,
  network: { ...refused, site: 'slow' },
  dns: refused,
  unknown: refused,
}
