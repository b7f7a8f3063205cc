/**
 * How remote servers' answers are read: DELIVERY's table as data, for replies in session and for
 * late bounces alike. Rules with a `text` are tried first, then those with `enhanced`, then the
 * bare codes; within each list the first that fits wins, so the special stand before the general.
 *
 * A text is matched in lower case, addresses removed, white space single, 2,000 characters at
 * most. Patterns use bounded gaps only, so that a hostile text costs linear time.
 * `enhanced` holds "subject.detail": the class digit is the reply's own, which bounds the verdict.
 */
import { providerRules } from './provider-rules.ts'

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
  /** "subject.detail" of the enhanced code; `none` for a reply without. */
  readonly enhanced?: readonly string[]
  readonly codes?: readonly number[]
  /** First digit of the reply. */
  readonly digit?: 4 | 5
  readonly stages?: readonly Stage[]
  /** Late: what the other server answered to. */
  readonly commands?: readonly Stage[]
  /** Late: not where it answered to one of these. */
  readonly exceptCommands?: readonly Stage[]
  /** "subject.detail" that speaks against the rule. */
  readonly unless?: readonly string[]
  /** As that of a class; it stands before it. */
  readonly isStrike?: boolean
  /** The MX host's name: the provider. */
  readonly mx?: RegExp
  readonly retryAfterMs?: number
  readonly site?: SiteAction
  /** As that of a class; it stands before it. */
  readonly isRetried?: boolean
}

const hour = 3_600_000
const envelopeStages: readonly Stage[] = ['connect', 'greeting', 'ehlo', 'mail', 'rcpt']
/** Before the server has heard of a message. */
export const beforeMail: readonly Stage[] = ['connect', 'greeting', 'ehlo']

/** What reports `5.0.0` and quotes no reply has found it out by itself, which is first-hand. */
const secondHand: Pick<ReplyRule, 'codes' | 'enhanced'>[] = [
  { codes: [0, 550, 551, 553, 554], enhanced: ['none'] },
  { codes: [550, 551, 553, 554], enhanced: ['0.0'] },
]

export const textRules: readonly ReplyRule[] = [
  // Our own credentials or the way there, not this message: it waits until that is put right.
  {
    class: 'network',
    reason: 'securityerror',
    stages: ['starttls', 'auth'],
    text: /^/,
    isRetried: true,
  },

  // A group that may be gone, or closed to the sender: Google says both in one text.
  {
    class: 'policy',
    reason: 'rejected',
    stages: ['late'],
    text: /groups\.google\.com\/support|permission to post|not allowed to post|'send mail as'|\bnot a member of\b|(?:are|is) not (?:a )?member\b|subscribers? only|only (?:members|subscribers) (?:may|can)|allowed-senders list|list of senders to accept|rst\.(?:not(?:authorized|allowed)|sender)|sender (?:was )?not authenticated (?:by|for|when)/,
  },

  ...providerRules,

  // A domain that takes no mail at all is told by its DNS before any list. To a report of another
  // system that is a refusal, though no address there will ever work.
  {
    class: 'dns',
    reason: 'rejected',
    stages: ['late'],
    digit: 4,
    text: /null ?mx/,
  },
  {
    class: 'hard',
    reason: 'rejected',
    stages: ['late'],
    text: /null ?mx|does(?:n't| not) receive e-?mail|indicated no smtp service|(?:host|domain) (?:does|do) not accept (?:e-?)?mail|no mx (?:record )?found|find a mail exchanger|reject all mails|mail receiving disabled/,
  },
  {
    class: 'hard',
    reason: 'hostunknown',
    text: /null ?mx|does(?:n't| not) receive e-?mail|indicated no smtp service|domain (?:does|do) not accept (?:e-?)?mail/,
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
    text: /too many (?:concurrent |simultaneous |open |smtp )?(?:connections?|sessions?)|(?:connection|session)s? (?:rate|count|frequency|limit).{0,20}(?:exceed|reach|limit)|maximum (?:number of )?(?:concurrent |simultaneous )?connections|frequency limited|concurrency limit|too many recipients|(?:maximum|per-domain) connection limit|max(?:imum)? (?:e-?mails?|messages?) per (?:hour|day|minute|connection)|message threshold exceeded|trop de connexions|numerous attempts to deliver|account service is temporarily unavailable|too many errors from/,
  },
  {
    class: 'throttle',
    reason: 'ratelimited',
    text: /unusual rate|rate.?limit(?:ed|ing|s)?\b|throttl|peak smtp|\brl0000\d{1,2}\b|\brp-00\d\b|too many (?:messages(?! on the server)|e-?mails|mails|commands|errors|attempts)|(?:sending|message|mail|hourly|daily) (?:rate|limit).{0,20}exceed|(?:sending|message|hourly|daily) quota.{0,20}exceed|exceed(?:ed|s|ing)? .{0,40}\b(?:rate|per (?:hour|minute|day|second))\b|sending too (?:fast|many|quickly)|slow(?:er)? down|try again slower|daily message quota|excessive volume|frequency of receiving|limit exceeded for (?:user|customer)|exceeded (?:their limit for|permitted limits)|exceeded threshold|traffic not accepted/,
  },

  // Mimecast: a rule of the receiver, which trying again does not change.
  { class: 'policy', reason: 'policyviolation', text: /\bhost network not allowed\b/ },
  // Microsoft's own numbers for a refused address.
  {
    class: 'block',
    reason: 'blocked',
    text: /\b(?:sc|dy|ou)-00\d\b|messages from \S{1,60} weren't sent/,
  },

  // What is wrong with the sending domain's authentication or our host's names.
  {
    class: 'content',
    reason: 'contenterror',
    text: /duplicate header|headers? too (?:large|long|big)|(?:missing|invalid|malformed|bad|multiple(?! addresses)) .{0,20}headers?\b|bare ?(?:lf|cr|newline|line ?feed)|line (?:is )?too long|improper use of 8-bit|improperly-?formatted|mime structure|valid mime|header size|mime (?:error|syntax|complexity|headers)|content error|(?:not|non-?) ?(?:rfc[ \d-]{0,8}) ?compliant|not (?:a valid )?rfc ?\d{4}|missing a valid (?:address|from|date|message-id)|encoded-word|unicode character in|(?:message|mail) is malformed|stray line ?feeds|blank from|conversion to internet format/,
  },
  {
    class: 'policy',
    reason: 'blocked',
    text: /\brdns\b|reverse[ -](?:dns|lookup|record|name|hostname)|reverse .{0,10}(?:dns|lookup)|\bptr\b|cannot find your (?:reverse )?host ?name|unverifyable sending ip|helo.{0,30}(?:invalid|reject|not resolve|forged|mismatch)|fix reverse|ip name lookup failed|generic (?:dns|ptr|hostname)|resolvable host ?name|dns check failure|cannot resolve your address|client ip .{0,30}not resolve|hostname .{0,40}does not resolve/,
  },
  {
    class: 'policy',
    reason: 'authfailure',
    text: /\bspf\b|sender policy framework|openspf|\bdmarc\b|\bdkim\b|unauthenticated (?:e-?mail|mail|message|sender)|required authentication level|(?:does|did) not pass authentication|sender id \(|authentication checks?|auth(?:entication)? results? (?:do|does) not|not pass(?:ed)? (?:spf|dkim|dmarc)|domain authentication fail/,
  },
  {
    class: 'policy',
    reason: 'securityerror',
    text: /(?:tls|encryption|starttls|secure connection) (?:is |was )?(?:required|needed|mandatory)|must issue a starttls|(?:smtp )?auth(?:entication|orization)? (?:is )?(?:required|needed|failed|failure|credentials)|turn on smtp auth|not authenticated|authenticat(?:e|ion) (?:first|before)|invalid (?:login|credentials(?! for relay))|unauthenticated senders?|not authorized to send mail|without authentication|you don't authenticate|insecure mail relay|sendernotauthenticated|rst\.authrequired|tls required|account not subscribed|(?:failed|cannot) (?:to )?authenticate|incorrect authentication|requires (?:encryption|tls|high-strength)|(?:tls|ssl)\S{0,8} connection required|starttls[- ](?:is )?not[- ]supported|does not support (?:tls|starttls)|mta-sts|(?:remote|peer) certificate|certificate-|tlsa-invalid|dnssec-invalid|retrieve credentials|not authorized to perform|log in (?:with|through) your|specific password|username and password|verification failure|executable files are not allowed/,
  },

  // Content: URL lists before the lists of addresses.
  {
    class: 'content',
    reason: 'virusdetected',
    text: /virus(?:es)? (?:was |has been )?(?:detected|found|infected)|(?:contains?|infected (?:with|by)|detected) (?:an? )?(?:virus|malware|worm|trojan)|malware (?:detected|found)|\binfected\b|prohibited virus|virus \S{1,60} (?:was )?detected|viruses or other malware|executable attachment/,
  },
  {
    class: 'content',
    reason: 'spamdetected',
    text: /\buribl\b|\bsurbl\b|(?:black|block) ?listed (?:url|link|domain in)|suspected spam content|url .{0,30}(?:black|block) ?list|message content rejected|content (?:was |is )?rejected|\bub[ec]\b|\buce\b|unsolicited|phish|junk mail(?! rejected - host)|spam list|spam ?(?:message|mail|content|score|filter|firewall|detected|rule|assassin|probability|like)|(?:looks|seems|considered|classified|identified|detected|tagged|recogni[sz]ed|rejected|marked|suspected|flagged)(?: like| as| to be| for)? (?:a )?(?:possible |likely |being )?(?:spam|bulk)\b(?! ip)|(?:is|as|like|high|-|probable|contains?|be|possible|against|for|suspected|consider|accept|of) spam\b(?! ip)|^spam\b(?! report)|spam (?:is )?(?:not (?:accepted|allowed)|refused|check|block|e-?mail|found|abuse)|spam-?like|antispam|anti-spam|spamming|content denied|bulk (?:e-?mail|mail)|spamprofiler|thinks this (?:e-?mail|message) is|\bmail rejet[eé]|(?:unacceptable|banned) content|(?:rejecting|denied) mail content|bulk\.advertising|too much spam|recurrent pattern|blocked by our filter|mail score|spam (?:points|complaints|score)|percent probability|similar to spam|nature of the content|^reject, id=|content filter|спам|спамом|垃圾邮件|垃圾郵件|スパム|迷惑メール/,
  },

  // The envelope's sender is what they refuse, by its name.
  {
    class: 'syntax',
    reason: 'rejected',
    text: /(?:sending|sent) to\/from|provide a valid from|administrative prohibition|envelope (?:blocked|rejected)|(?<!rejected: )delivery not authori[sz]ed|e-?mail address is not verified|mail sending denied|rejected by destination domain|spam reporting address|badmailfrom|valid-address-filter|recursive cname|\bmx records for\b|empty e-?mail address|valid sender domain|imposed mailbox access|bad outbound sender|\bfrom: (?:address|domain).{0,20}(?:invalid|not (?:valid|allowed|accepted))|your (?:e-?mail address|domain) (?:has been|is) (?:black|block)|sender (?:address )?(?:has been |is )?(?:in (?:my|our) )?(?:black|ban)|permissions? to send as|(?:mails?|messages?) from (?:this|your) (?:address|sender|domain|e-?mail) (?:is|are) (?:not |reject|block|refus|den)/,
  },

  // The recipient's own list, not the receiver's.
  { class: 'content', reason: 'filtered', text: /(?:blocked|refused|rejected) by the recipient\b/ },

  // A control panel's guess when it can route the mail nowhere.
  {
    class: 'hard',
    reason: 'hostunknown',
    stages: ['late'],
    text: /(?:account|user) or domain may not exist/,
  },

  // Our address or domain on somebody's list.
  {
    class: 'block',
    reason: 'blocked',
    text: /spamhaus|barracuda|spamcop|\bsorbs\b|uceprotect|abuseat|dnsbl|\brbl\b|\bcdrbl\b|blocked using|blocked for abuse|blocked by|(?:black|block|deny|ban) ?-?list|banned (?:sending )?ip|s3150|\[bl\d\d\]|\bbl0000\d{1,2}\b|(?:low|poor|bad|negative) (?:\S+ )?reputation|(?:ip|host|sender|client|server|network|domain)\b.{0,40}\b(?:is |has been |was )?(?:blocked|banned|listed)\b|(?:host|network|client|ip|server)s? (?:is )?not (?:allowed|permitted|accepted|welcome)|blocked ip|bad ip|smtp server of your isp|use your isp|not accepting (?:mail(?! with)|connections)|connections? (?:(?:will )?not (?:be )?accepted|rejected|denied)|no access from mail server|open relay(?! (?:is )?not)|no smtp service|refused to accept (?:mail|your)|dynamic (?:ip|address|host)|open proxy|invalid ip\b|\bdrbl\b|unresolvable relay|bad (?:sender )?ip|your (?:ip|network|host|mail server|server|isp|mta)\b.{0,40}(?:\blisted|blocked|reject|black|refused|denied|bad)|not allowed to (?:connect|send mail from)|spams? from your|looks suspiciously|sending spam|unwanted messages|refused - see|see .{0,30}\brbl|\bip (?:address )?.{0,50}(?:rejected|refused|denied|blacklisted)|mail from \S{1,60} refused|server access .{0,40}forbidden|not currently accepting mail from your|access from .{0,40}(?:blocked|denied)|client (?:host )?(?:\S{1,60} )?blocked|currently blocked|ブロック|заблокирован отправ|封锁|黑名单|黑名單/,
  },
  {
    class: 'policy',
    reason: 'blocked',
    text: /client host rejected/,
  },
  {
    class: 'block',
    reason: 'blocked',
    stages: ['late'],
    text: /\bgo away\b|blocked - see|abus d[eé]tect|no valid recipients from|requires confirmation|confirm this mail server|not in (?:our )?whitelist|bounce attacks|suspected spam ip|bad helo|bad commands from|reputation (?:problems|issues)|authorized to send (?:e-?)?mail directly|connection (?:denied|rejected)\b|accept e-?mail over ipv6/,
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
    text: /\b(?:sender|mail from|from address|return.?path|reverse.?path)(?: e-?mail)?(?: address| domain)?(?: is| was| has been)? (?:rejected|refused|denied|not (?:allowed|accepted|verified|valid|permitted)|invalid|unknown|does not exist|blocked)|(?:reject|unknown|invalid|bad|unresolvable|deny)(?:ed)? sender(?! ip)|sender (?:address )?verif|bouncedeny|fully qualified e-?mail|returned mail not|domain of sender|sender.{0,40}does(?:n't| not) (?:exist|resolve)|purported responsible|(?:sending|sent) to\/from|not a member of|permission to post|send mail as|sender (?:is |was )?(?:reject|not )|\bbatv\b|backscatter|bogus mail from|null sender|empty envelope sender|envelope sender|(?:invalid|illegal|unroutable|missing|empty|forged|expired) (?:envelope )?(?:sender|from|return)|sender (?:address |email address )?(?:has been |is )?(?:black|spammer|in my black|invalid)|sender domain|from not owned|emetteur invalide|exp[eé]diteur.{0,30}(?:invalide|refus|rejet|bloqu|inconnu)|mail server does not accept mail from|not (?:a )?registered gateway|third-party dsn|unsigned dsn|relaying mail from|does not accept mail from|no (?:mail|messages) from|(?:absender|remitente|remetente|mittente|отправител|发件人|寄件者|差出人).{0,30}(?:ung.ltig|abgelehnt|gesperrt|rechazad|inv[aá]lid|rejeitad|bloquead|rifiutat|заблокирован|отклон|запрещ|被拒|拒绝|拒絕|无效|無效|拒否)/,
  },

  // Said to MAIL FROM, so of the sender.
  {
    class: 'syntax',
    reason: 'rejected',
    stages: ['mail'],
    digit: 5,
    text: /does(?:n't| not) exist|\b(?:user|address|domain|host)(?: is)? (?:unknown|invalid|not found)|(?:unknown|invalid|no such) (?:user|address|domain|host)/,
  },

  { class: 'syntax', reason: 'rejected', commands: ['mail'], text: /\baccess denied\b/ },

  // The policies of the receiver.
  {
    class: 'unknown',
    reason: 'policyviolation',
    text: /relay(?:ing)? (?:access |is |was )?(?:denied|not (?:permitted|allowed|authori[sz]ed)|prohibited|refused)|(?:not|unable to|won't|cannot|can't|don't|no)(?: permitted to| allowed to| configured to)? relay|rcpthosts|not a (?:gateway|open relay)|we do not relay|relay (?:not|access)|isn't allowed to be relayed|relay operation rejected|smtp relay error|credentials for relay|handle mail for|specified domain is not allowed|domain isn't in my list|this mail server requires|not local.{0,20}gateway|mail server .{0,30}not .{0,20}your isp|relaying\b|as a relay/,
  },
  {
    class: 'content',
    reason: 'policyviolation',
    text: /multiple addresses in from|potential security issue|presents a potential|(?:attachment|file type|extension).{0,40}(?:not allowed|blocked|forbidden|reject|prohibited|denied)|header error/,
  },
  {
    class: 'policy',
    reason: 'policyviolation',
    text: /polic(?:y|ies)\b.{0,30}(?:reason|violat|restrict|reject|denied|prohibit)|(?:denied|rejected|refused|blocked|against|violat\w{1,4}|due to|local|by) (?:by |the |our |a |for |of |site )?polic(?:y|ies)|administrative(?:ly)? (?:prohibited|denied|reject|policy)|(?:policy|policies) (?:error|that prohibit)|examination policy|security policies|non-?member|members-only|closed mailing list|not subscribed to|containing images|mass mailer|anti-?spoofing|message not allowed|organi[sz]ation(?:al)? (?:settings|policy)|protocol violation|policy (?:reasons?|rejection)|low priority|rules\.reject|not accepting mail with (?:attach|embed)|illegal attachment|attachments? (?:type|not|blocked)|header(?:s)? (?:are|is) not accepted/,
  },

  {
    class: 'content',
    reason: 'filtered',
    text: /rejected by a remote mail server|recipient preferences|message filtered|rejected by (?:the |this )?(?:recipient|domain filter|user)|only accept(?:s|ing) mail from|restricted sms|user rules|(?:user|recipient|id) (?:refuses?|reject(?:s|ed)?) (?:to )?(?:receive|this|your|accept)|refuses? to (?:receive|accept) (?:this |your |any )?mail|protected by|blocked by the recipient|rst\.notauthorized|not accepting any mail|is not granted|bounced address|recipient access|cannot route mail to|ambiguous recipient/,
  },

  {
    class: 'policy',
    reason: 'securityerror',
    stages: ['late'],
    exceptCommands: [...beforeMail, 'mail'],
    text: /(?<!rejected: )\baccess denied\b(?!, banned recip)/,
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
    text: /over ?quota|quota (?:is |has been |was )?(?:exceeded|full|violation|limit|reached)|quota.?exceed|exceed\w{0,3} .{0,30}(?:quota|storage|local limit)|(?:mail ?box|inbox|account|folder|maildir|mailfolder|user|recipient)(?:'s)? (?:\S{1,20} )?(?:is |are |has |storage )?(?:over |too )?full\b|out of (?:storage|disk|space)|(?:insufficient|not sufficient) (?:disk |mailbox |storage )?(?:space|storage)|storage (?:limit|quota|full|exceed)|mailbox (?:size )?(?:limit|exceed)|not enough (?:disk |storage )?space|full mailbox|(?:exceed|over|reach)\w{0,3} .{0,40}(?:quota|storage|space)|quota .{0,20}exceed|too much mail data|too many messages on the server|space has been used up|mail file size exceed|exceeded (?:storage|the storage|their storage)|receiving limits|mail ?box .{0,20}(?:would exceed|exceeded)|quotaexceeded|boite .{0,30}pleine|bo[iî]te .{0,40}pleine|quota d[eé]pass|postfach .{0,30}(?:voll|überfüllt)|speicherplatz|mailbox .{0,10}voll|buz[oó]n .{0,30}(?:lleno|llena)|cuota .{0,20}(?:excedida|superada)|caixa .{0,30}(?:cheia|lotada)|cota excedida|casella .{0,30}piena|quota superata|переполнен|заполнен|превышен.{0,20}квот|メールボックス.{0,12}(?:一杯|いっぱい|満杯|容量)|容量.{0,10}(?:超|不足|オーバー)|(?:邮箱|信箱|郵箱|空间|空間|容量).{0,6}(?:已满|已滿|不足|超出|超过)|(?:메일함|편지함).{0,10}(?:가득|초과)|skrzynka .{0,20}(?:pełna|przepełniona)|posta kutusu .{0,10}dolu/,
  },
  // What a program told the mail system that started it, whatever else its words say.
  {
    class: 'unknown',
    reason: 'mailererror',
    stages: ['late'],
    text: /^x-unix;|\bprocmail: |command output: |\bpipe to \||^\|\//,
  },

  {
    class: 'disabled',
    reason: 'suspended',
    text: /(?:account|mail ?box|user|recipient|inbox|customer)\b(?: \S{1,40}){0,6} (?:is |has been |was |temporarily |currently )?(?:disabled|inactive|suspended|frozen|closed|deactivated|discontinued|locked|terminated|not active|blocked|bloqu[eé])\b|(?:disabled|inactive|suspended|deactivated|closed|frozen) (?:account|mail ?box|user|recipient)|disableduser|\(554\.30\)|not accepting messages|deactivated mailbox|(?:user|account|mailbox) (?:is )?(?:locked|terminated|expired)|no longer accepts mail|suspend the service|inactive user|account not enabled|extended inactivity|administrativ\w{2,5} disabled|(?:account|mailbox|user)\b.{0,20} temporar\w{1,3} (?:locked|limited)|archived recipient|banned recipient|has been (?:disabled|suspended|deactivated)|compte .{0,30}(?:bloqu|d[eé]sactiv|suspend|ferm)|archiv[eé]e|konto .{0,30}(?:gesperrt|deaktiviert)|conta .{0,30}(?:suspensa|desativad|bloquead)|cuenta .{0,30}(?:suspendida|desactivada|deshabilitada|bloqueada)|(?:ящик|пользователь|аккаунт|учетная запись).{0,30}(?:заблокирован|отключ)|(?:帐号|账号|帳號|邮箱|用户|使用者).{0,6}(?:停用|禁用|冻结|凍結|禁止)|利用停止|停止されて|휴면/,
  },
  {
    class: 'unknown',
    reason: 'networkerror',
    text: /exceed\w{0,3} (?:\S{1,20} ){0,3}hops?\b/,
  },
  {
    class: 'size',
    reason: 'toobig',
    text: /(?:message|mail|e-?mail|size|length|content|attachment)s?(?: is| was| size| length){0,2} (?:too (?:large|big|long)|exceed|larger than|over (?:the )?(?:maximum|limit))|(?:maximum|max|fixed|allowed|administrative) (?:\S{1,20} )?(?:message |mail )?size|recipsizelimit|too (?:large|big) (?:message|mail|for)|size limit|file too (?:big|large)|size the user accepts|taille limite/,
  },
  {
    class: 'hard',
    reason: 'hasmoved',
    digit: 5,
    text: /no longer (?:on|at|with|in) (?:this |the |our )?(?:server|system|company|domain|service)|(?:user|recipient|mailbox|address|account) (?:has )?(?:moved|changed)|not our (?:user|customer)|address has changed|has been replaced by|new address is|has moved|user not local; please try|please (?:use|try) (?:the )?new address|a (?:changé|déménagé) d'adresse/,
  },

  // The domain.
  {
    class: 'hard',
    reason: 'hostunknown',
    stages: ['late'],
    digit: 5,
    text: /dns (?:lookup )?(?:error|failure):? (?:host \S{1,100} not found|domain name not found|.{0,40}no data\b)|code nxdomain/,
  },
  {
    class: 'dns',
    reason: 'networkerror',
    text: /host (?:name )?not found,? try again|name lookup fail|lookup (?:timed out|failure)|temporary (?:dns|lookup|resolution|name)|dns (?:lookup )?(?:error|failure|timeout|temporar)|name ?server (?:failure|timeout)|name service error .{0,80}try again|servfail|unable to (?:look ?up|resolve)|failure in mx lookup|dns records for .{0,40}not be found|dns (?:lookup|query) failed/,
  },
  {
    class: 'hard',
    reason: 'hostunknown',
    text: /(?:host|domain)(?: or domain)?(?: name)? (?:is )?(?:unknown|not found|does(?:n't| not) exist|invalid)|domain is not reachable|(?:unknown|invalid|illegal|no such|unrouteable|bad|nonexistent) (?:mail |destination |recipient )?(?:host|domain)|nxdomain|find any host|no mx (?:record )?found|find a mail exchanger|host address lookups failed|(?:remote|recipient) domain (?:doesn'?t|must) exist|no (?:such|valid) (?:host|domain)|name or service not known|mail domain .{0,40}unknown|non-?existent (?:hosts?|domain)|no data known|domain (?:part )?of (?:recipient|destination).{0,20}(?:not|invalid)|bad destination (?:host|system|domain)|(?:zieldomain|domain|domaine|dominio|домен)\b.{0,20}(?:existiert nicht|n'existe pas|no existe|não existe|non esiste|не найден|не существует)|域名(?:不存在|解析失败)|ドメイン.{0,10}(?:見つかりません|存在しません)/,
  },

  // Nobody there.
  {
    class: 'hard',
    reason: 'userunknown',
    text: /this user doesn't have an? |recip(?:ient)?notfound|(?:user|mail ?box|account|recipient) \S{1,80} does(?:n't| not) exist/,
  },
  // A code of policy speaks against the words, unless it is known that the address was refused.
  {
    class: 'content',
    reason: 'filtered',
    stages: ['late'],
    exceptCommands: envelopeStages,
    enhanced: ['2.0', '7.0', '7.1'],
    digit: 5,
    text: /user unknown|unknown user|no such (?:user|recipient)|recipient (?:address )?rejected/,
  },
  // Told second-hand, by no code and without the command: a filter says so as well as a mailbox.
  ...secondHand.map(
    (told): ReplyRule => ({
      ...told,
      class: 'unknown',
      reason: 'filtered',
      stages: ['late'],
      exceptCommands: envelopeStages,
      text: /user unknown|unknown user(?! ?:)|no such user|mailbox unavailable/,
      isStrike: true,
    }),
  ),
  // Said of the content only: this is what filters of the receiver say to hide behind.
  {
    class: 'content',
    reason: 'filtered',
    commands: ['data', 'message'],
    unless: ['1.0', '1.1', '1.2', '1.3', '1.6', '1.10'],
    text: /user unknown|unknown user|no such (?:user|recipient|mailbox|address)|(?:user|recipient|mailbox) not found/,
    isStrike: true,
  },
  {
    class: 'hard',
    reason: 'userunknown',
    text: /(?:user|recipient|mail ?box|account|address|alias|customer|person|inbox|addressee|destination|userid|name)s?(?: name| address| account)?(?: you \S{1,20} \S{1,20} \S{1,20})?(?: is| was| are| that you tried to reach)?(?: an?)? ?(?:unknown|not (?:be )?(?:found|known|exist|recogni[sz]ed|listed|valid|here|local|a valid)|does(?:n't| not) (?:exist|have)|doesnt exist|invalid|unavailable|non-?exist)|(?:unknown|no such|nonexistent|non-existent|undeliverable|unrecogni[sz]ed|invalid|bad|wrong)(?: final| local| remote| virtual| email| e-mail| to| smtp| destination| delivery)* (?:user|recipient|mail ?box|address|account|addressee|alias|person|customer|inbox|local.?part|userid|rcpt)|(?:user|account|mailbox|recipient) (?:unavailable|unknown)|(?:recip|recipient)notfound|no (?:valid recipients?|mailbox|account|user|inbox|one) (?:here|by|with|found|for|were)|no valid recipients|not (?:a )?(?:known|valid|our|local) (?:user|recipient|mailbox|customer|address)|does not exist here|destinataire invalide|address rejected\.?$|address rejected: access denied|mailbox not found|not listed in|address(?:es)? (?:were |was )?unknown|address (?:couldn't|could not) be found|not in (?:the|our) (?:directory|system|database)|(?:dosn't|doesnt) exist|account is not available|(?:isn't|is not|not) (?:an? )?(?:active|known|valid|local|registered) (?:\S{1,20} )?(?:address|user|mail ?box|recipient|account)|(?:address|mail ?box|user) (?:is |was )?not present|(?:user|recipient|mail ?box|account|address) (?:does )?not exist|no (?:one|user|person|mail ?box|account|recipient|existe)\b.{0,20}(?:at this|by that|with that|here|available|found)|no such (?:person|recipient|local|customer|e-?mail|mail)|validrcptto|badrecipientto|name is not (?:found|recogni)|(?:name|recipient|address|user)\b.{0,60}not recogni[sz]ed|recipient (?:is )?(?:not (?:ok|accepted|local|exist)|refused)|envelope recipient has been denied|wrong or no longer valid|can't accept user|(?:server|destination) rejected recipients?|missing home directory|no thank you|mailbox (?:is )?(?:inactive|unavailable|invalid)|unknown (?:recipients?|mailbox|users?|local)|unrouteable address|address (?:is )?invalid|invalid (?:mailbox|recipients?|addresses)|undeliverable address|recipients? (?:was|were) undeliverable|mailbox doesn't exist|system user\b|invalid user\b|refer to a virtual user|or unknown (?:base|virtual) user|\bbadrcptto\b|name directory|mailbox is not allowed|mailbox unavaiable|reserved by rfc|recipient account|(?:address|account|user|mail ?box|recipient|e-?mail)\b.{0,30} no longer (?:valid|exists?|available|active|in use)/,
  },

  // The same in other languages.
  {
    class: 'hard',
    reason: 'userunknown',
    text: /non r.pertori.|no se encuentra en el directorio|(?:utilisateur|destinataire|adresse(?! ip)|compte|bo[iî]te).{0,30}(?:inconnue?|inexistante?|invalide|n'existe pas|introuvable)|aucun utilisateur|(?:empf.nger|benutzer|adresse|postfach|konto|adressat).{0,40}(?:unbekannt|existiert nicht|nicht gefunden|nicht bekannt|ung.ltig)|(?:unbekannter?|ung.ltiger?) (?:empf.nger|benutzer|adress|postfach)|(?:usuario|buz[oó]n|destinatario|cuenta|direcci[oó]n).{0,30}(?:desconocid[oa]|no existe|inexistente|no (?:se )?encontrad[oa]|inv[aá]lid[oa])|no existe (?:ese|este|esta|dicha|el|la|ning)|(?:usu[aá]rio|destinat[aá]rio|conta|caixa|endere[cç]o).{0,30}(?:desconhecid[oa]|n[aã]o existe|inexistente|n[aã]o (?:foi )?encontrad[oa]|inv[aá]lid[oa])|(?:utente|destinatario|casella|indirizzo|account).{0,30}(?:sconosciut[oa]|non esiste|inesistente|non (?:è stato )?trovat[oa])|nessun utente|(?:gebruiker|ontvanger|adres).{0,20}(?:onbekend|bestaat niet|niet gevonden)/,
  },
  {
    class: 'hard',
    reason: 'userunknown',
    text: /(?:пользовател|адрес|ящик|получател).{0,30}(?:не (?:найден|существует|зарегистрирован)|неизвест|несуществ)|нет так(?:ого|ой)|несуществующ|(?:ユーザ|宛先|アドレス|受信者).{0,16}(?:見つかりません|存在しません|存在しない|不明)|ディレクトリ.{0,10}(?:見つか|あ)りません|(?:用户|收件人|邮箱|用戶|使用者|信箱|帳號|账号|地址).{0,8}(?:不存在|未找到|無效|无效)|(?:找不到|没有|沒有|查無)(?:此|该|該|这个)?(?:收件人|用户|邮箱|使用者|信箱)|(?:사용자|수신자|메일|주소).{0,12}(?:존재하지 않|없습니다|찾을 수 없)|(?:użytkownik|adres|konto).{0,20}(?:nie istnieje|nieznany)|nie ma takiego|(?:kullanıcı|alıcı|adres).{0,20}(?:bulunamadı|yok|geçersiz)/,
  },

  // Not of a user, so of a host.
  {
    class: 'hard',
    reason: 'hostunknown',
    stages: ['late'],
    digit: 5,
    text: /(?:^| )[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,5} does(?:n't| not) exist/,
  },

  // What stopped them stands before the fact that they gave up.
  {
    class: 'unknown',
    reason: 'systemerror',
    text: /\bldap\b|unable to contact (?:\S{1,20} )?(?:server|database|directory)|(?:configuration|config) error|can(?:no|')t (?:create|open|write) .{0,40}file|unable to (?:open|create|write) |interrupted system call|no space left on device|loops? back|loop condition|loop was found in|create a mail loop|queue file write error|no mdb|misconfigured|error in processing|timeout waiting for input|file write error|(?:file|pipe) forbidden|local delivery failed|lmtp error|dns violates|several matches found|homedir|needs to be unique|no proxy for recipient|error while being processed|forwarding loop broken/,
  },

  // They gave up on a host that was never there.
  {
    class: 'network',
    reason: 'expired',
    stages: ['late'],
    enhanced: ['4.1', '4.7'],
    text: /connection refused(?! by [a-z])|network is unreachable|could not connect/,
  },
  // The other host hangs up on them.
  {
    class: 'network',
    reason: 'blocked',
    stages: ['late'],
    text: /connection refused by (?!\[)|connection (?:was )?dropped|connection reset by peer|closing transmission channel/,
  },
  {
    class: 'network',
    reason: 'networkerror',
    stages: ['late'],
    text: /connection (?:was )?(?:refused|reset|lost|closed|dropped)|lost connection|no route to host|network (?:is )?unreachable|establish an smtp connection|host (?:is )?unreachable|address family mismatch|valid route to|routes to destination blocked|network error|loop detected|could not connect|name server reply|dns lookup error|unable to resolve|remote protocol error|tls .{0,40}(?:handshake|fail)/,
  },
  // Reports of other systems that gave up.
  {
    class: 'network',
    reason: 'expired',
    stages: ['late'],
    text: /\bexpired\b|in the queue too long|giving up|multiple retries|retry time(?:out)? (?:not reached|exceed)|unable to deliver this message after|could not deliver for the last|(?:connection|operation|session) timed out|timed? ?out|not (?:been )?delivered within|(?:host|server) (?:(?:is )?not|did not) respond|delivery attempts will continue|did not accept our requests|not reachable|delivery time|have been failing|not been collected|find a gateway|after \d{1,3} tries|failed \d{1,3} attempts|has been delayed|unable to deliver in|retry timeout|within the allowed|for more than \d|too old|queue.expired|maximum (?:queue|retry) time|abgelaufen|délai|時間切れ|超时|超時/,
  },
  {
    class: 'unknown',
    reason: 'networkerror',
    text: /too many hops|hop count|(?:routing|mail|forwarding) loop|forwarding loop|message looping|loop count/,
  },
  {
    class: 'unknown',
    reason: 'mailererror',
    text: /mailer error|command (?:failed|died)|\b(?:mail\.local|maildrop|vdeliver(?:mail)?): |procmail|pipe to|local delivery agent|x-unix|\|\| ?exit|bin\/(?:maildrop|deliver)|vdelivermail|child process|exit (?:status|code)/,
  },
  {
    class: 'unknown',
    reason: 'systemerror',
    text: /(?:local|system|server|internal|configuration|lookup|temporary|ldap|database) (?:\S{1,10} )?(?:error|failure|problem|unavailable)|service (?:is |currently |temporarily )?(?:currently |temporarily )?(?:unavailable|not available)|(?:server|system|service) (?:is )?(?:too )?(?:busy|down|overloaded)|could not load|unable to contact|resources temporarily|out of (?:memory|resources)|improper sequence|insufficient resources|unable to (?:process|connect to .{0,40}daemon)|server temporarily not|transaction failed\b/,
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
  // What a late report says by a code alone: RFC 3463 and the registry of RFC 5248, narrowly.
  {
    class: 'hard',
    reason: 'userunknown',
    stages: ['late'],
    exceptCommands: [...beforeMail, 'mail', 'data', 'message'],
    enhanced: ['1.0'],
    digit: 5,
  },
  { class: 'disabled', reason: 'filtered', stages: ['late'], enhanced: ['2.1'], digit: 5 },
  { class: 'syntax', reason: 'rejected', stages: ['late'], enhanced: ['7.27'], digit: 5 },
  { class: 'policy', reason: 'authfailure', stages: ['late'], enhanced: ['7.29'] },
  { class: 'content', reason: 'filtered', stages: ['late'], enhanced: ['1.4', '2.4'] },
  { class: 'network', reason: 'expired', stages: ['late'], enhanced: ['4.1', '4.300'] },
  { class: 'unknown', reason: 'systemerror', stages: ['late'], enhanced: ['4.3', '4.318'] },
  { class: 'network', reason: 'networkerror', stages: ['late'], enhanced: ['4.0'], digit: 5 },
  { class: 'unknown', reason: 'undetermined', stages: ['late'], enhanced: ['5.0'], digit: 5 },
  { class: 'throttle', reason: 'toomanyconn', stages: ['late'], enhanced: ['5.3'], digit: 5 },
  {
    class: 'content',
    reason: 'securityerror',
    stages: ['late'],
    exceptCommands: beforeMail,
    enhanced: ['7.0', '7.1', '7.2', '7.3'],
    digit: 5,
  },
  {
    class: 'policy',
    reason: 'blocked',
    stages: ['late'],
    enhanced: ['2.1', '7.1', '7.2'],
    digit: 4,
  },

  { class: 'dns', reason: 'networkerror', enhanced: ['4.4'], digit: 4 },
  { class: 'hard', reason: 'hostunknown', enhanced: ['1.2', '1.10', '4.4', '4.310'] },
  { class: 'hard', reason: 'hasmoved', enhanced: ['1.6', '7.17', '7.18'] },
  { class: 'hard', reason: 'userunknown', enhanced: ['1.1', '1.3', '1.351'] },
  { class: 'syntax', reason: 'rejected', enhanced: ['1.7', '1.8'] },
  { class: 'too_fast', reason: 'ratelimited', enhanced: ['2.1'], digit: 4 },
  { class: 'disabled', reason: 'suspended', enhanced: ['2.1', '7.13'] },
  { class: 'quota', reason: 'mailboxfull', enhanced: ['2.2'] },
  { class: 'size', reason: 'toobig', enhanced: ['2.3', '3.4'] },
  { class: 'content', reason: 'filtered', enhanced: ['2.0'] },
  {
    class: 'unknown',
    reason: 'systemerror',
    enhanced: ['1.9', '3.0', '3.1', '3.2', '3.3', '3.5', '4.5'],
  },
  { class: 'network', reason: 'networkerror', enhanced: ['4.1', '4.2'], digit: 4 },
  { class: 'dns', reason: 'networkerror', enhanced: ['4.3', '4.312'] },
  { class: 'unknown', reason: 'networkerror', enhanced: ['4.6', '4.14'] },
  { class: 'network', reason: 'expired', enhanced: ['4.7', '4.316', '4.317'] },
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
  {
    class: 'throttle',
    reason: 'ratelimited',
    enhanced: ['1.90', '2.121', '2.122', '7.28', '7.500', '7.508'],
  },
  { class: 'policy', reason: 'blocked', enhanced: ['7.506', '7.507', '7.510', '7.513'] },
  { class: 'syntax', reason: 'rejected', enhanced: ['7.124', '7.133', '7.134', '7.136'] },
  { class: 'size', reason: 'toobig', enhanced: ['7.16'] },
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
    enhanced: [
      '7.4',
      '7.5',
      '7.6',
      '7.7',
      '7.8',
      '7.9',
      '7.10',
      '7.11',
      '7.12',
      '7.14',
      '7.15',
      '7.19',
      '7.29',
    ],
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
