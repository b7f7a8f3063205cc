/**
 * Envelope commands, one character an octet: addresses of SMTPUTF8 as UTF-8. A value that could end
 * or extend a command line is our own bug: TypeError.
 */
import type { Capabilities, MessageNeeds } from './capabilities.ts'

export type Envelope = {
  /** '' = the null reverse-path. */
  reversePath: string
  recipient: string
  needsSmtputf8: boolean
}

const maxPathOctets = 254

/** Throws TypeError for CR, LF, NUL, blanks, brackets, and what 7-bit commands cannot carry. */
export function checkEnvelope({ reversePath, recipient, needsSmtputf8 }: Envelope): void {
  if (recipient === '') throw new TypeError('An envelope needs a recipient.')
  checkPath('reverse-path', reversePath, needsSmtputf8)
  checkPath('recipient', recipient, needsSmtputf8)
}

function checkPath(name: string, path: string, needsSmtputf8: boolean): void {
  if (/^[!-;=?-~]{0,254}$/.test(path)) return
  if (/[\u0000-\u0020\u007f-\u009f<>]/.test(path) || !path.isWellFormed()) {
    throw new TypeError(`The ${name} holds a character that no SMTP path may hold.`)
  }
  if (!needsSmtputf8 && !isAscii(path)) {
    throw new TypeError(`The ${name} is not ASCII, and the message does not ask for SMTPUTF8.`)
  }
  if (Buffer.byteLength(path) > maxPathOctets) {
    throw new TypeError(`The ${name} has more than ${maxPathOctets} octets.`)
  }
}

/** A host name or address literal for EHLO; throws TypeError where it would break the line. */
export function checkEhloName(name: string): void {
  if (!/^[!-~]{1,255}$/.test(name)) throw new TypeError('The EHLO name is not a host name.')
}

/** "MAIL FROM:<…> …", without its line end. */
export function mailCommand(
  { reversePath }: Envelope,
  { sizeBytes, has8bit, needsSmtputf8 }: MessageNeeds,
  capabilities: Capabilities,
): string {
  let command = `MAIL FROM:<${octetsOf(reversePath)}>`
  if (capabilities.hasSize) command += ` SIZE=${sizeBytes}`
  if (capabilities.has8bitmime && (has8bit || needsSmtputf8)) command += ' BODY=8BITMIME'
  if (needsSmtputf8) command += ' SMTPUTF8'
  return command
}

/** "RCPT TO:<…>", without its line end. */
export function rcptCommand({ recipient }: Envelope): string {
  return `RCPT TO:<${octetsOf(recipient)}>`
}

function octetsOf(path: string): string {
  return isAscii(path) ? path : Buffer.from(path).toString('latin1')
}

function isAscii(path: string): boolean {
  return !/[^\u0000-\u007f]/.test(path)
}
