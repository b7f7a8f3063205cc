/**
 * Classifies a recipient of a report, by the rules for replies in session, at stage `late`. The
 * other server's reply comes first; the prose around it decides only if the reply matches no text
 * rule.
 */
import { type Classification, classifyWithBasis } from '../replies/classify-reply.ts'
import type { ReplyVerdict, Stage } from '../replies/reply.ts'
import { type Diagnosis, isVague, mostSpecific, readDiagnosis, specificity } from './diagnostic.ts'
import type { ReportedAction, ReportedRecipient } from './reported-recipient.ts'

export type RecipientEvidence = {
  recipient: string
  originalRecipient: string | null
  action: ReportedAction
  /** The enhanced code in the delivery status. */
  status: string | null
  /** The texts to classify, in order: the diagnostic, then the prose about the recipient. */
  texts: string[]
  /** The whole prose. It decides if no code says more than "failed". */
  notice: string
  /** The name of the replying server, if a field has it. */
  remoteMta?: string | null
  /** The SMTP command that the server replied to, if a field names one. */
  command?: Stage | null
  /** The reporting system and the recipient belong to different organisations. */
  isForeign?: boolean
}

const MAX_TEXT_LENGTH = 2_000
const MAX_PROSE_LENGTH = 8_000
export const MAX_DIAGNOSTIC_LENGTH = 1_000

/** Prose which says that the address was refused; used only if no code contradicts it. */
const ADDRESS_REFUSED =
  /address (?:not found|couldn't be found)|rejected (?:the |your )?address|recipient address rejected/i

export function classifyRecipient(given: RecipientEvidence): ReportedRecipient {
  const texts = given.texts.map(oneSpaced).filter((text) => text !== '')
  const notice = oneSpaced(given.notice)
  const evidence = {
    ...given,
    texts: texts.flatMap(unwrapQuote).map(dropHosts),
    notice: dropHosts(notice),
  }
  const { action, recipient, originalRecipient } = evidence
  const diagnosis = diagnose(evidence)
  const verdict = limitToAction(action, classifyBest(evidence, diagnosis).verdict)
  return {
    recipient,
    originalRecipient,
    action,
    status: diagnosis.status,
    replyCode: diagnosis.replyCode,
    class: verdict.isHard ? 'hard' : verdict.reason === 'undetermined' ? 'undetermined' : 'soft',
    reason: verdict.reason,
    diagnostic: escapeControls(texts[0] ?? notice),
    verdict,
  }
}

/**
 * Finds code and command of the refusal. The other server's enhanced code beats the reporting
 * system's if it is more specific.
 */
function diagnose({ status, texts: own, notice, command: given }: RecipientEvidence): Diagnosis {
  const texts = [...own, notice]
  const diagnoses = texts.map(readDiagnosis)
  const command = diagnoses.map((one) => one.command).find((one) => one !== null) ?? null
  const best = chooseStatus(status, diagnoses)
  const isAddressNamed = isVague(best) && texts.some((text) => ADDRESS_REFUSED.test(text))
  const replyCode = diagnoses.map((one) => one.replyCode).find((code) => code !== null) ?? null
  return { status: best, replyCode, command: given ?? command ?? (isAddressNamed ? 'rcpt' : null) }
}

/**
 * Chooses between the delivery status and the code in the other server's reply: the more specific
 * one, or the reply's if their first digits differ. The surrounding prose counts only if both are
 * unspecific.
 */
function chooseStatus(status: string | null, diagnoses: readonly Diagnosis[]): string | null {
  const [first, ...others] = diagnoses.map((one) => one.status)
  const isContrary = first && status && first[0] !== status[0] && diagnoses[0]?.replyCode !== null
  const own = isContrary ? [first] : [status, first ?? null].filter((code) => code !== null)
  const best = mostSpecific(own)
  if (best !== null && specificity(best) > 1) return best
  return mostSpecific([best, ...others].filter((code) => code !== null))
}

/**
 * Removes host names that precede an IP address, because many contain words like "spam" or
 * "filter".
 */
function dropHosts(text: string): string {
  return text.replace(
    /(?:(?<![\w.-])host )?(?<![\w.-])(?!(?:\d{3}[ -])?\d\.\d{1,3}\.\d{1,3} ?\[)[\w-]{1,63}(?:\.[\w-]{1,63}){1,8} ?\[(?:ipv6:)?(?=[\da-f]{0,4}[.:])[\d.:a-f]{3,45}\](?::\d{1,5})?/gi,
    ' ',
  )
}

/**
 * The words that introduce the other server's reply. They must be cut off, because they would
 * mislead the rules.
 */
const QUOTE_INTRODUCTION =
  /(?:smtp error from remote (?:mail )?server after (?:pipelined )?(?:initial connection|end of data|[a-z]{4}(?: (?:from|to))?(?:\s?:\s?<[^<>]{0,320}>)?(?: [\w.=-]{1,80}){0,3})|from mta\((?:smtp|lmtp)?:?[^()]{0,80}\)|error that the other server returned was|the response (?:from the remote server )?was|with the following (?:error|reply|response)(?: message)?)\s{0,3}:/i

/**
 * Takes the other server's reply out of a text that quotes it. An IronPort writes
 * `5.1.0 - Unknown address error 550-'…'`, where the words before the reply are a guess.
 */
function unwrapQuote(text: string): string[] {
  const quoted = /(?:^|\s)[245]\.\d\.\d{1,3} - [\w (),/-]{1,80}? ([245]\d\d)[ -]'(.+)/s.exec(text)
  if (quoted !== null) return [`${quoted[1]} ${quoted[2]}`]
  const introduction = QUOTE_INTRODUCTION.exec(text)
  const rest = introduction === null ? '' : text.slice(introduction.index + introduction[0].length)
  return /\w{3}/.test(rest) ? [rest, text] : [text]
}

/** Classifies the first text that a rule matches, else the codes alone. */
function classifyBest(evidence: RecipientEvidence, diagnosis: Diagnosis): Classification {
  const { action, texts, notice } = evidence
  const { replyCode, status, command } = diagnosis
  const isDelivered = action !== 'failed' && action !== 'delayed'
  const code = isDelivered ? 250 : replyCode !== null && replyCode >= 400 ? replyCode : 0
  const enhancedCode = status?.startsWith('2') && !isDelivered ? null : status
  const read = (text: string) =>
    classifyWithBasis({
      stage: 'late',
      reply: { code, enhancedCode, text: text.slice(0, MAX_TEXT_LENGTH) },
      ...findProvider(evidence),
      isForeign: evidence.isForeign === true,
      ...(command === null ? {} : { command }),
    })
  if (isDelivered) return read('')
  for (const text of texts) {
    const reading = read(text)
    if (reading.basis === 'text') return reading
  }
  const codes = read('')
  if (codes.basis === 'enhanced') return codes
  const general = read(notice)
  return general.basis === 'text' ? general : codes
}

const PEER_NAME = /\b(?:host:?|talking to|by) ([a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8})/i

/** The server that replied, and the domain of the recipient. */
function findProvider({ remoteMta, recipient, texts }: RecipientEvidence) {
  const mxHost = remoteMta ?? texts.map((text) => PEER_NAME.exec(text)?.[1]).find(Boolean)
  const recipientDomain = recipient.slice(recipient.lastIndexOf('@') + 1)
  return mxHost === undefined ? { recipientDomain } : { mxHost, recipientDomain }
}

/** Bounds a verdict by the action: only `failed` can suppress an address or count as a strike. */
function limitToAction(action: ReportedAction, verdict: ReplyVerdict): ReplyVerdict {
  if (action === 'failed') return verdict
  if (action === 'delayed' && verdict.reason === 'undetermined') {
    return { ...verdict, class: 'network', reason: 'expired', isFinal: false, isStrike: false }
  }
  return { ...verdict, isFinal: action !== 'delayed', isHard: false, isStrike: false }
}

function oneSpaced(text: string): string {
  return text.slice(0, MAX_PROSE_LENGTH).replace(/\s+/g, ' ').trim()
}

/** Cuts a line and escapes its control characters as `\x1b`. */
function escapeControls(line: string): string {
  return line
    .slice(0, MAX_DIAGNOSTIC_LENGTH)
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f-\x9f]/g, (control) => {
      return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`
    })
}

/** A recipient whom the message reached, and who then replied automatically or complained. */
export function classifyReached(
  reason: 'vacation' | 'feedback',
  recipient: string,
): ReportedRecipient {
  const delivered = classifyWithBasis({
    stage: 'late',
    reply: { code: 250, enhancedCode: null, text: '' },
  })
  return {
    recipient,
    originalRecipient: null,
    action: 'delivered',
    status: null,
    replyCode: null,
    class: 'soft',
    reason,
    diagnostic: '',
    verdict: { ...delivered.verdict, reason },
  }
}
