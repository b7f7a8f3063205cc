/**
 * The questions of `init`: the settings that a server needs before its first start. The questions
 * write nothing.
 */

import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { findProblems } from '../../config/load.ts'
import { type SettingKey, settingOf } from '../../config/settings.ts'
import type { TomlValue } from '../../config/values/kinds.ts'
import { formatNewFile } from '../../config/values/toml-text.ts'
import { parseShownAddress } from '../../formats/address/named-mailbox.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../records/limits.ts'
import type { Terminal } from '../engine/terminal.ts'
import { openQuestions, type Question, type Questions } from '../options/questions.ts'
import { BACKUP_FOLDER, STATE_FOLDER } from '../systemd/unit.ts'

export type GivenSettings = Partial<Record<SettingKey, TomlValue>>

export type FirstUser = {
  address: string
  /** The password; undefined: the command generates one. */
  password: string | undefined
}

type AskedSettings = { given: GivenSettings; user: FirstUser }

/** The answer that means "no value", for questions whose empty answer means the default. */
const NONE = 'none'

/** Settings that an answer makes necessary, and that a later question asks for. */
const ASKED_LATER = ['delivery.hostname', 'delivery.relay.host', 'delivery.relay.password']

const FOLDERS: readonly SettingKey[] = ['data_dir', 'backup.dir']

/**
 * Asks all questions at the terminal.
 * @throws AppError BAD_REQUEST after Ctrl-C or Ctrl-D
 */
export async function askSettings(terminal: Terminal, file: string): Promise<AskedSettings> {
  const questions = openQuestions(terminal)
  try {
    const given: GivenSettings = {}
    const asking = { questions, given, file }
    const ask = createAsk(asking)
    const mode = await ask('delivery.mode', 'Mode: direct, relay or sandbox', 'direct')
    const host = await ask('delivery.hostname', 'Host name of this server', defaultHost())
    const url = await ask('base_url', 'Public address (URL) of this server', `https://${host}`)
    if (mode === 'relay') await askRelay(asking, ask)
    if (mode === 'direct') await askInbound(asking)
    // The systemd unit lets the service write to these folders, so the service's file has them as
    // defaults.
    const isOfService = file === SYSTEM_FILE
    await ask('data_dir', 'Folder of the data', isOfService ? STATE_FOLDER : 'data')
    await askBackups(asking, isOfService)
    if (String(url).startsWith('https:')) await askCertificates(asking)
    return { given, user: await askUser(questions) }
  } finally {
    questions.close()
  }
}

type Asking = {
  questions: Questions
  /** The settings from the answers so far. */
  given: GivenSettings
  /** The configuration file that `init` will write. */
  file: string
}

type Ask = (key: SettingKey, text: string, byDefault?: string) => Promise<TomlValue>

function createAsk(asking: Asking): Ask {
  return async (key, text, byDefault) => {
    const question: Question<TomlValue> = { text, read: (answer) => readValue(asking, key, answer) }
    if (byDefault !== undefined) question.byDefault = byDefault
    if (settingOf(key).kind.isSecret) question.isHidden = true
    const value = await asking.questions.ask(question)
    asking.given[key] = value
    return value
  }
}

/**
 * Reads an answer. Refuses a value that `config check` would refuse together with the answers so
 * far, so that nobody has to start over.
 * @throws Error that says what is expected
 */
function readValue({ given, file }: Asking, key: SettingKey, answer: string): TomlValue {
  const { kind } = settingOf(key)
  const value = kind.read(kind.fromText(answer))
  if (value === undefined) throw new Error(`Expected ${kind.expected}.`)
  const shown = kind.show(value)
  if (FOLDERS.includes(key)) refuseFile(path.resolve(path.dirname(file), String(shown)))
  const answers: GivenSettings = { ...given, [key]: shown }
  const [problem] = findProblems({ file, text: formatNewFile(answers) }).filter(
    (each) => each.key in answers || !ASKED_LATER.includes(each.key),
  )
  if (problem === undefined) return shown
  const { key: found, expected } = problem
  throw new Error(found === key ? `Expected ${expected}.` : `${found}: expected ${expected}.`)
}

/** @throws Error if a file stands in the place of this folder or of a folder around it */
function refuseFile(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined) refuseFile(path.dirname(folder))
  else if (!found.isDirectory()) throw new Error(`Expected a folder: ${folder} is a file.`)
}

async function askRelay(asking: Asking, ask: Ask): Promise<void> {
  await ask('delivery.relay.host', 'Host of the smarthost')
  const tls = await ask('delivery.relay.tls', 'TLS to it: starttls, implicit or none', 'starttls')
  const port = { implicit: '465', none: '25' }[String(tls)] ?? '587'
  await ask('delivery.relay.port', 'Port of the smarthost', port)
  const text = 'User name at the smarthost (empty: none)'
  await askOptional(asking, { key: 'delivery.relay.username', text })
  if (asking.given['delivery.relay.username'] === undefined) return
  await ask('delivery.relay.password', 'Password at the smarthost')
}

/** Asks whether to receive mail at port 25: the bounces of direct mail come back to this server. */
async function askInbound({ questions, given }: Asking): Promise<void> {
  const isWanted = await questions.ask({
    text: 'Receive bounces, complaints and replies at port 25 (y or n)',
    byDefault: 'y',
    read: readYes,
  })
  if (isWanted) given['inbound.listen'] = ['0.0.0.0:25']
}

function readYes(answer: string): boolean {
  const [first = ''] = answer.toLowerCase()
  if (first !== 'y' && first !== 'n') throw new Error('Expected y or n.')
  return first === 'y'
}

/**
 * Asks about certificates. A URL with a port other than 443 is the address of a proxy, which has
 * its own.
 */
async function askCertificates(asking: Asking): Promise<void> {
  const { questions, given } = asking
  await askOptional(asking, {
    key: 'acme.email',
    text: "Your e-mail address for certificates from Let's Encrypt (empty: none)",
  })
  if (given['acme.email'] === undefined || new URL(String(given.base_url)).port !== '') return
  const isOwn = await questions.ask({
    text: 'Serve HTTPS at port 443 without a proxy (y or n)',
    byDefault: 'y',
    read: readYes,
  })
  if (isOwn) given['http.listen'] = '0.0.0.0:443'
}

async function askBackups(asking: Asking, isOfService: boolean): Promise<void> {
  await askOptional(asking, {
    key: 'backup.dir',
    ...(isOfService
      ? { text: `Folder of the daily backups (${NONE}: no backups)`, byDefault: BACKUP_FOLDER }
      : { text: 'Folder of the daily backups (empty: no backups)' }),
  })
  const { given } = asking
  if (given['backup.dir'] !== undefined) given['backup.every'] = '1d'
}

/**
 * Asks for a setting that may stay unset: by an empty answer, or by `none` if an empty answer means
 * the default.
 */
async function askOptional(
  asking: Asking,
  { key, text, byDefault }: { key: SettingKey; text: string; byDefault?: string },
): Promise<void> {
  const unset = byDefault === undefined ? '' : NONE
  const read = (answer: string) => (answer === unset ? undefined : readValue(asking, key, answer))
  const question: Question<TomlValue | undefined> = { text, read }
  if (byDefault !== undefined) question.byDefault = byDefault
  const value = await asking.questions.ask(question)
  if (value !== undefined) asking.given[key] = value
}

async function askUser(questions: Questions): Promise<FirstUser> {
  const address = await questions.ask({
    text: 'E-mail address of the first user, who operates the server',
    read: readUserAddress,
  })
  for (;;) {
    const password = await questions.ask({
      text: 'Password (empty: generate one)',
      isHidden: true,
      read: readPassword,
    })
    if (password === undefined) return { address, password }
    const text = 'Repeat the password (empty: begin again)'
    const repeated = await questions.ask({ text, isHidden: true, read: (answer) => answer })
    if (repeated === password) return { address, password }
  }
}

/** @throws Error that says what an address looks like */
function readUserAddress(answer: string): string {
  const parsed = parseShownAddress(answer)
  if (parsed === undefined) throw new Error('Expected an email address.')
  return parsed.address
}

/**
 * Returns undefined for an empty answer: a password is then generated.
 * @throws Error that says which length is expected
 */
function readPassword(answer: string): string | undefined {
  if (answer === '') return undefined
  if (answer.length < MIN_PASSWORD_LENGTH || answer.length > MAX_PASSWORD_LENGTH) {
    throw new Error(
      `Expected a password of ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`,
    )
  }
  return answer
}

/** Returns the host name of this machine as a proposal, but only if it is a full name. */
function defaultHost(): string | undefined {
  const name = hostname()
  return name.includes('.') ? name : undefined
}
