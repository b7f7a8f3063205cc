/**
 * Recognises reports, bounces, delay warnings and automatic replies by their header section and
 * prose.
 */

import { decodeHeader } from '../parse/decode-text.ts'
import type { Entity } from '../parse/entity.ts'
import { findField } from '../parse/fields.ts'
import { findAddress } from '../parse/find-address.ts'

const DAEMON_ADDRESS =
  /^(?:mailer-?daemon|mailer|mail-?daemon|mail[._-]?delivery(?:[._-]?(?:sub)?system)?|mail[._-]?system|poo?st_?master|mdaemon|bounces?|double-?bounce|smtp-?(?:admin|daemon)|microsoftexchange\w{10,40}|nobody|root)(?:[+@-]|$)/i
/** Matches the addresses of programs, which need not be mail systems. */
const MACHINE_ADDRESS =
  /^(?:[\w.+-]{0,64}[._-])?(?:no-?reply|do-?not-?reply|sys-?admin|admin|administrator|system|server|gateway|filter|mailserver|notifications?|listserv|majordomo|mailman|sympa|lyris|list-?manager)(?:[._+-][\w.+-]{0,64})?@/i
/**
 * Matches the addresses of list servers, whose mail has fields such as `X-MLServer` or
 * `X-Mailman-Version`.
 */
const LIST_ADDRESS =
  /^(?:[\w.+-]{1,64}-(?:admin|owner|request|bounces?|ctl|help|errors)|owner-[\w.+-]{1,64}|(?:majordomo|mailman|listserv|listmaster|sympa|lyris|fml|ezmlm)(?:-[\w.+-]{1,64})?)@/i
const LIST_FIELD =
  /^(?:x-ml(?:server|-name|-info)|x-mailman-|x-listserver|x-loop$|list-(?:id|help|post)$|mailing-list$)/
const DAEMON_NAME =
  /mailer.?daemon|mail deliver\w{0,3} (?:sub)?system|mail delivery (?:agent|service)|postmaster|mail ?system|system administrator|mail administrator|delivery subsystem|content.?filter|mail router|mail server at|microsoft outlook$|<@?>\s*$/i

const BOUNCE_SUBJECT =
  /undeliver|non-?deliver|not (?:be )?deliver|deliver\w{0,3} (?:status|failure|failed|error|problem|report|notif|has failed|unsuccessful|incomplete|delay)|(?:failed|failure|failure of|unsuccessful) (?:mail |message )?(?:delivery|notice)|failure notice|returned (?:mail|message|e-?mail|to sender)|mail (?:system )?(?:failure|error)|mail delivery|message (?:delivery|blocked|status)|message you sent (?:was )?blocked|could ?n.t be delivered|returning message|notify: see transcript|warning: (?:message|could not)|delayed (?:\d{1,3} |mail)|loop (?:alert|back warning)|not member article|rejected (?:mail|message|post)|(?:message|mail|posting|request|submission)\b.{0,80}\brejected\b|nondeliverable|blocked by|dsn\b|bounce|mail failed|returning to sender|error sending your mail|(?:are|is) not (?:a )?member|unzustellbar|zustell(?:ung|fehler|bericht)|nicht zugestellt|non remis|non distribu|échec|echec|notification d'état|mancat[ao] (?:consegna|recapito)|non (?:consegn|recapit)|no se (?:ha )?(?:puede|pudo|podido) entregar|no entregad|no se entreg|não entregue|nao entregue|falha n[ao] entrega|notifica..o de (?:status|estado)|onbestelbaar|niet (?:be|afge)zorgd|недостав|не доставлен|не может быть доставлен|сообщение не|доставк|ulevert|kunne ikke leveres|kan inte levereras|niedostarczon|nie (?:można|dostarcz)|退信|系统退信|投递失败|傳遞失敗|無法傳遞|未传递|无法投递|配信(?:不能|エラー|失敗|できません)|送信(?:エラー|失敗|できません)|メールエラー|エラー通知|届きません|전송 실패|반송|전달되지|teslim edilemedi|נכשל/i

const BOUNCE_PHRASE =
  /(?:could|can|did|was|were|is|been|has|has been|wasn.t|couldn.t|can.t|hasn.t)(?: not)? (?:yet )?(?:be(?:en)? )?(?:delivered|relayed)\b|not (?:yet )?(?:be(?:en)? )?deliver|undeliver|unable to deliver|(?:failed|failure) (?:to|in) (?:deliver|send)|deliver\w{0,3} (?:to the following|has failed|failed|failure|problem|errors?|status notification|problems)|had (?:permanent|transient|delivery)|permanent (?:fatal |delivery )?(?:error|failure)|did not reach|was rejected|been (?:automatically )?rejected|not (?:allowed|authori[sz]ed|permitted) to (?:post|send)|returned to (?:you|sender)|not (?:be )?(?:accepted|sent)|giving up|(?:user|recipient|mailbox|account|address) (?:unknown|not found|does not exist|is (?:full|disabled))|unknown (?:user|recipient|or illegal)|no such user|over quota|exceeded the (?:local )?(?:limit|quota)|failure reasons?|remote (?:host|server) (?:said|returned|replied)|smtp error|transcript of session|error message below|trouble delivering|no valid recipients|not a member of|don't have permission|permission to post|detected a loop|invalid final delivery|mail(?:box)? (?:size )?(?:limit|quota)|nicht zugestellt|konnte nicht|unzustellbar|n'a (?:pas )?pu être|n.a pas été remis|non è stato possibile|no se ha podido|no se pudo|não foi possível|не может быть доставлено|не удалось|не было доставлено|не доставлено|无法|無法|退信|送信できません|配信できません|届けられません|エラー|전송하지 못|google groups/i

export type MessageKind = {
  /**
   * The message itself may be a report, by its type or its sender. A report that any other message
   * contains or quotes was sent to the author of that message.
   */
  isReport: boolean
  /**
   * The message is a report about a delivery. Unless `isReport`, its prose must also name a
   * recipient.
   */
  isBounce: boolean
  /** The message warns of a delay. */
  isDelay: boolean
  isAutoReply: boolean
}

/**
 * The types of messages that are nothing but a report, with or without its parts (RFC 3462, 3464,
 * 5965).
 */
const REPORT_TYPE =
  /^(?:multipart\/report|message\/(?:feedback-report|(?:global-)?delivery-status))$/

/** The facts of the SMTP session in which the message arrived. */
export type Arrival = {
  /** The message had the null reverse path. */
  isNullSender?: boolean
  /** A mailbox is among the recipients: people write to mailboxes and never to a return path. */
  isToMailbox?: boolean
}

/** `root`: the message itself, `parts`: its parts; `notice`: its prose. */
export function detectMessageKind(
  [root, ...parts]: readonly [Entity, ...Entity[]],
  { notice, isNullSender = false, isToMailbox = false }: Arrival & { notice: string },
): MessageKind {
  const subject = decodeHeader(findField(root.fields, 'subject') ?? '').slice(0, 1_000)
  const words = notice.slice(0, 8_000)
  const speaker = judgeSender(root)
  const isBounceItself = isBounce(root, { subject, words, speaker })
  const isReport =
    isNullSender ||
    speaker.isMailSystem ||
    isTypedReport(root) ||
    (speaker.isList && isBounceItself)
  const isPerson = !isReport && (isToMailbox || parts.some(isOtherReport))
  return {
    isReport,
    isBounce: isBounceItself && !isPerson,
    isDelay: isDelayNotice(subject, words),
    isAutoReply: isAutoReply(root, subject),
  }
}

function isTypedReport({ type, contentType, fields }: Entity): boolean {
  return (
    REPORT_TYPE.test(type) ||
    /;\s{0,9}report-type\s{0,9}=/i.test(contentType) ||
    findField(fields, 'x-failed-recipients') !== undefined
  )
}

/** Whether a part is another system's report, or was sent by a mail system. */
function isOtherReport(part: Entity): boolean {
  const isMessage = part.level > 0 && findField(part.fields, 'from') !== undefined
  return isTypedReport(part) || (isMessage && judgeSender(part).isMailSystem)
}

type Evidence = { subject: string; words: string; speaker: Speaker }

/**
 * Whether the message is about a failed delivery. People write about deliveries too, so its words
 * count only if the sender seems to be a mail system.
 */
function isBounce(root: Entity, { subject, words, speaker }: Evidence): boolean {
  if (findField(root.fields, 'x-failed-recipients') !== undefined) return true
  if (/report-type\s{0,9}=\s{0,9}"?delivery-status/i.test(root.contentType)) return true
  const isNamed = !isAnswer(subject) && BOUNCE_SUBJECT.test(subject)
  const { score } = speaker
  return score > 0 && score + (isNamed ? 2 : 0) + (BOUNCE_PHRASE.test(words) ? 2 : 0) >= 4
}

/** Whether the subject is that of an answer or of a forwarded message. */
export function isAnswer(subject: string): boolean {
  return /^\s*(?:re|fwd?|aw|wg|sv|antw|tr|rv|回复|答复)\s?:/i.test(subject)
}

type Speaker = {
  /**
   * 2 for a mail system, 1 for another program, 0 for a person; 1 more if the return path is null.
   */
  score: number
  /**
   * The sender has an address or a return path that only mail systems have. People may have names
   * and addresses of programs.
   */
  isMailSystem: boolean
  isList: boolean
}

function judgeSender({ fields }: Entity): Speaker {
  const from = decodeHeader(findField(fields, 'from') ?? findField(fields, 'sender') ?? '')
  const found = findAddress(from)
  const address = found ?? from.trim()
  const isNamed = DAEMON_NAME.test(from)
  const isDaemon =
    DAEMON_ADDRESS.test(address) || address === '' || (isNamed && found === undefined)
  const returnPath = findField(fields, 'return-path') ?? ''
  const isNullSender = /^\s*(?:<\s*>|<?mailer-daemon(?:@[^\s<>]{1,255})?>?)\s*$/i.test(returnPath)
  const isList = LIST_ADDRESS.test(address) && fields.some(({ name }) => LIST_FIELD.test(name))
  const isMachine = isList || MACHINE_ADDRESS.test(address)
  return {
    score: (isDaemon || isNamed ? 2 : isMachine ? 1 : 0) + (isNullSender ? 1 : 0),
    isMailSystem: isDaemon || isNullSender,
    isList,
  }
}

/**
 * Matches words which say that no further attempt is made. The "will be returned" in a delay
 * warning of Exim is not final.
 */
const FINAL_FAILURE =
  /permanent|given up|giving up|(?<!will be )returned to you|has failed|failed permanently/i

function isDelayNotice(subject: string, words: string): boolean {
  const head = `${subject}\n${words.slice(0, 3_000)}`
  if (FINAL_FAILURE.test(head)) return false
  return /\((?:delay|warning)\)|\bdelay(?:ed)?\b|warning message only|not yet been delivered|will (?:continue to )?(?:be retried|keep trying|retry|try)|still (?:being )?(?:trying|queued)|do not need to resend|verzögert|retardé|задерж|遅延|延迟/i.test(
    head,
  )
}

const AUTO_REPLY_SUBJECT =
  /^(?:\[?auto(?:matic|matische|matica|mática|matisk)?[ .-]?(?:reply|response|replied|antwort|svar)\]?|auto ?:|autoreply|auto-?reply|autoresponder|out of (?:the )?office|out-of-office|ooo:|abwesen|abwesenheit|automatische (?:antwort|abwesen)|réponse automatique|absen(?:ce|t)|absence du bureau|risposta automatica|fuori (?:sede|ufficio)|respuesta autom|fuera de (?:la )?oficina|resposta autom|ausência|automatisch antwoord|afwezig|autosvar|frånvaro|автоответ|автоматический ответ|自动回复|自動回覆|自動応答|自動返信|不在通知|자동 응답|부재중|otomatik yan|odpowiedź automatyczna|automatyczna odpowiedź|autoodpowiedź|automatická odpově|automaattinen vastaus|automatikus válasz|automatsko odgov|samodejni odgovor|automatinis atsak|automātiskā atb|automaatvastus|răspuns automat|αυτόματη απάντηση|автоматична відповідь|自动答复|自動答覆|自動回答|자동 회신|자동 답장|תשובה אוטומטית|رد تلقائي|vacation|on vacation|away from|i am away|away (?:until|from)|on (?:annual )?leave)|(?:is |am )?(?:currently )?out of (?:the )?office|vacation (?:reply|response|message|notice)|automatic reply/iu

/**
 * Whether the message is an automatic reply, by RFC 3834 section 5 or by the fields and subjects of
 * older responders.
 */
function isAutoReply(root: Entity, subject: string): boolean {
  const field = (name: string) => (findField(root.fields, name) ?? '').trim().toLowerCase()
  if (field('auto-submitted').startsWith('auto-replied')) return true
  if (field('auto-submitted').startsWith('auto-') && field('in-reply-to') !== '') return true
  if (/report-type\s{0,9}=\s{0,9}"?disposition-notification/i.test(root.contentType)) return true
  if (/^auto.?reply|^auto_reply/.test(field('precedence'))) return true
  if (field('delivered-to') === 'autoresponder') return true
  const names = [
    'x-autoreply',
    'x-autorespond',
    'x-autoreply-from',
    'x-mail-autoreply',
    'x-autogenerated',
    'x-autoresponder',
    'x-vacation',
    'x-apple-action',
  ]
  if (names.some((name) => !['', 'no', 'false', 'none'].includes(field(name)))) return true
  return field('auto-submitted') !== 'no' && AUTO_REPLY_SUBJECT.test(subject.trim())
}
