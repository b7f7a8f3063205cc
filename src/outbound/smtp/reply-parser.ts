/**
 * Parses SMTP replies (RFC 5321 section 4.2) from octets that arrive in chunks of any size, and describes the
 * failures of a connection that brings no reply. The input may be hostile: a reply has at most 64 KB and 100 lines
 * with one code. Anything else ends the session.
 */

import { describeError } from '../../base/errors.ts'
import { createLru, type Lru } from '../../base/lru.ts'
import type { Reply } from '../../formats/replies/reply.ts'

export type ServerReply = {
  readonly code: number
  /** The lines as received, one octet per character, without line ends and codes. */
  readonly lines: readonly string[]
  /** The reply for the database: bounded text in UTF-8, control characters escaped, enhanced code separate. */
  readonly stored: Reply
}

export type ReplyParser = {
  /**
   * `octets`: one per character. Returns null, or why the input is not SMTP; after an error, every
   * call returns that error.
   */
  push(octets: string): string | null
  /** Whether part of a reply has arrived. */
  hasPartial(): boolean
}

/**
 * A cache of parsed replies of one short line, since servers send the same reply to every message.
 */
export type KnownReplies = Pick<Lru<ServerReply>, 'get' | 'set'>

const MAX_REPLY_BYTES = 64 * 1024

const MAX_REPLY_LINES = 100

const MAX_TEXT_LENGTH = 2_048

const MAX_KNOWN_REPLIES = 100

const MAX_KNOWN_LENGTH = 80

const LEADING_CODE = /^#?([245]\.\d{1,3}\.\d{1,3})(?: |$)/

const TRAILING_CODE = /\(#([245]\.\d{1,3}\.\d{1,3})\)\s*$/

// C0, C1, and characters that reverse or hide text on a terminal or a page.
const CONTROL_CHARACTERS =
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

export type WireFailure = {
  kind: 'network' | 'closed' | 'timeout' | 'protocol' | 'cut'
  text: string
}

export function createKnownReplies(): KnownReplies {
  return createLru<ServerReply>(MAX_KNOWN_REPLIES)
}

/** `onReply` is called once for each complete reply, while `push` runs. */
export function createReplyParser(
  onReply: (reply: ServerReply) => void,
  known: KnownReplies = createKnownReplies(),
): ReplyParser {
  let partialLine = ''
  let code = 0
  let lines: string[] = []
  let lineCount = 0
  let byteCount = 0
  let error: string | null = null

  function push(octets: string): string | null {
    if (error !== null) return error
    let start = 0
    for (let end = octets.indexOf('\n'); end !== -1; end = octets.indexOf('\n', start)) {
      const line = partialLine + octets.slice(start, end)
      partialLine = ''
      start = end + 1
      error = addLine(line)
      if (error !== null) return error
    }
    // The partial line is not searched again when more octets come, so that octets that arrive one
    // by one cost linear time.
    partialLine += octets.slice(start)
    if (byteCount + partialLine.length > MAX_REPLY_BYTES) error = 'a reply of more than 64 KB'
    return error
  }

  function addLine(line: string): string | null {
    byteCount += line.length + 1
    lineCount += 1
    if (byteCount > MAX_REPLY_BYTES) return 'a reply of more than 64 KB'
    if (lineCount > MAX_REPLY_LINES) return 'a reply of more than 100 lines'
    const content = line.endsWith('\r') ? line.slice(0, -1) : line
    const same = code === 0 ? known.get(content) : undefined
    if (same !== undefined) return finishReply(same)
    // Some servers send an empty line between replies.
    if (content === '' && code === 0) return null
    const lineCode = replyCode(content)
    if (lineCode === 0) return 'a line that is not an SMTP reply'
    if (code !== 0 && lineCode !== code) return 'a reply whose lines have different codes'
    code = lineCode
    lines.push(content.slice(4))
    return content.charAt(3) === '-' ? null : finishReply(toReply(content))
  }

  function toReply(lastLine: string): ServerReply {
    if (lines.length > 1 || lastLine.length > MAX_KNOWN_LENGTH) {
      return { code, lines, stored: toStored(code, lines) }
    }
    const line = copyOf(lastLine)
    const text = [line.slice(4)]
    const reply = { code, lines: text, stored: toStored(code, text) }
    known.set(line, reply)
    return reply
  }

  function finishReply(reply: ServerReply): null {
    code = 0
    lines = []
    lineCount = 0
    byteCount = 0
    onReply(reply)
    return null
  }

  return { push, hasPartial: () => partialLine !== '' || code !== 0 }
}

/** Makes text of a peer safe to store and show: one line of bounded length. */
export function printable(text: string, maxLength: number): string {
  return text.trim().slice(0, maxLength).replace(CONTROL_CHARACTERS, escapeCharacter)
}

export function timedOut(what: string): WireFailure {
  return { kind: 'timeout', text: `timed out: ${what}` }
}

/** For an OpenSSL error, shows the code: the text adds only file names of OpenSSL. */
export function networkFailure(error: NodeJS.ErrnoException): WireFailure {
  const text = error.code?.startsWith('ERR_SSL') ? error.code : describeError(error)
  return { kind: 'network', text: printable(text, 300) }
}

/**
 * The failure of a session that was ended before its greeting, because other mail needed the
 * connection.
 */
export function cutFailure(afterMs: number): WireFailure {
  const seconds = (afterMs / 1_000).toFixed(1)
  return { kind: 'cut', text: `no greeting in ${seconds} s, and other mail needed the connection` }
}

/** Returns 200-599, or 0 if the line does not begin with a reply code. */
function replyCode(line: string): number {
  const separator = line.charAt(3)
  if (separator !== ' ' && separator !== '-' && line.length !== 3) return 0
  let code = 0
  for (let at = 0; at < 3; at++) {
    const digit = line.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return 0
    code = code * 10 + digit
  }
  return code >= 200 && code <= 599 ? code : 0
}

function toStored(code: number, lines: readonly string[]): Reply {
  const enhancedCode = findEnhancedCode(code, lines)
  const texts = enhancedCode === null ? lines : lines.map(withoutEnhancedCode)
  return { code, enhancedCode, text: boundText(texts.map(escapeLine).join('\n')) }
}

/** Copies a part of a string, so that the cache does not keep the whole string in memory. */
function copyOf(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('latin1')
}

/**
 * Finds the enhanced code (RFC 2034, or qmail's "(#5.1.1)") if its class is that of the reply code.
 */
function findEnhancedCode(code: number, lines: readonly string[]): string | null {
  const found =
    LEADING_CODE.exec(lines[0] ?? '') ?? TRAILING_CODE.exec(lines.at(-1)?.slice(-200) ?? '')
  const enhancedCode = found?.[1]
  if (enhancedCode === undefined) return null
  return Number(enhancedCode.charAt(0)) === Math.floor(code / 100) ? enhancedCode : null
}

function withoutEnhancedCode(line: string): string {
  const found = LEADING_CODE.exec(line)
  return found ? line.slice(found[0].length) : line
}

function escapeLine(line: string): string {
  if (line.length <= MAX_TEXT_LENGTH && /^[ -~]*$/.test(line)) return line
  const bounded = line.slice(0, MAX_TEXT_LENGTH + 1)
  const isAscii = !/[\u0080-\u00ff]/.test(bounded)
  const text = isAscii ? bounded : Buffer.from(bounded, 'latin1').toString('utf8')
  return text.replace(CONTROL_CHARACTERS, escapeCharacter)
}

function escapeCharacter(character: string): string {
  const value = character.charCodeAt(0)
  if (value === 9) return ' '
  const hex = value.toString(16)
  return value < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`
}

function boundText(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH - 1)}…`
}
