/** The questions of `init`: what a server needs before its first start. Nothing is written meanwhile. */
import { hostname } from 'node:os'
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { type SettingKey, settingOf } from '../../config/settings.ts'
import type { TomlValue } from '../../config/values/kinds.ts'
import { checkPassword } from '../../features/accounts/passwords/passwords.ts'
import { parseUserAddress } from '../../features/accounts/users/address.ts'
import type { Terminal } from '../engine/terminal.ts'
import { openQuestions, type Question, type Questions } from '../options/questions.ts'
import { BACKUP_FOLDER, STATE_FOLDER } from '../systemd/unit.ts'

export type Given = Partial<Record<SettingKey, TomlValue>>

export type FirstUser = {
  address: string
  /** Undefined: one is made. */
  password: string | undefined
}

export type Answers = { given: Given; user: FirstUser }

/** The answer for no value, to a question whose empty answer takes the default. */
const NONE = 'none'

/** @throws AppError BAD_REQUEST after Ctrl-C or Ctrl-D */
export async function askSettings(terminal: Terminal, file: string): Promise<Answers> {
  const questions = openQuestions(terminal)
  try {
    const given: Given = {}
    const ask = createAsk(questions, given)
    const host = await ask('delivery.hostname', 'Host name of this server', defaultHost())
    const url = await ask('base_url', 'Public address (URL) of this server', `https://${host}`)
    const mode = await ask('delivery.mode', 'Mode: direct, relay or sandbox', 'direct')
    if (mode === 'relay') await askRelay(ask)
    if (mode === 'direct') await askInbound(questions, given)
    // The unit lets the service write the usual folders.
    const isOfService = file === SYSTEM_FILE
    await ask('data_dir', 'Folder of the data', isOfService ? STATE_FOLDER : 'data')
    await askBackups(questions, given, isOfService)
    if (String(url).startsWith('https:')) await askCertificates(questions, given)
    return { given, user: await askUser(questions) }
  } finally {
    questions.close()
  }
}

type Ask = (key: SettingKey, text: string, byDefault?: string) => Promise<TomlValue>

function createAsk(questions: Questions, given: Given): Ask {
  return async (key, text, byDefault) => {
    const question: Question<TomlValue> = { text, read: (answer) => readValue(key, answer) }
    if (byDefault !== undefined) question.byDefault = byDefault
    if (settingOf(key).kind.isSecret) question.isHidden = true
    const value = await questions.ask(question)
    given[key] = value
    return value
  }
}

/** @throws Error that says what the setting expects */
function readValue(key: SettingKey, answer: string): TomlValue {
  const { kind } = settingOf(key)
  const value = kind.read(kind.fromText(answer))
  if (value === undefined) throw new Error(`Expected ${kind.expected}.`)
  return kind.show(value)
}

async function askRelay(ask: Ask): Promise<void> {
  await ask('delivery.relay.host', 'Host of the smarthost')
  const tls = await ask('delivery.relay.tls', 'TLS to it: starttls, implicit or none', 'starttls')
  const port = { implicit: '465', none: '25' }[String(tls)] ?? '587'
  await ask('delivery.relay.port', 'Port of the smarthost', port)
  await ask('delivery.relay.username', 'User name at the smarthost')
  await ask('delivery.relay.password', 'Password at the smarthost')
}

/** Bounces of direct mail come back to this server. */
async function askInbound(questions: Questions, given: Given): Promise<void> {
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

/** A port of the address other than 443 is that of a proxy. */
async function askCertificates(questions: Questions, given: Given): Promise<void> {
  await askOptional(questions, given, {
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

async function askBackups(questions: Questions, given: Given, isOfService: boolean): Promise<void> {
  await askOptional(questions, given, {
    key: 'backup.dir',
    ...(isOfService
      ? { text: `Folder of the daily backups (${NONE}: no backups)`, byDefault: BACKUP_FOLDER }
      : { text: 'Folder of the daily backups (empty: no backups)' }),
  })
  if (given['backup.dir'] !== undefined) given['backup.every'] = '1d'
}

/** An empty answer, or `none` where that takes the default, leaves the key unset. */
async function askOptional(
  questions: Questions,
  given: Given,
  { key, text, byDefault }: { key: SettingKey; text: string; byDefault?: string },
): Promise<void> {
  const unset = byDefault === undefined ? '' : NONE
  const read = (answer: string) => (answer === unset ? undefined : readValue(key, answer))
  const question: Question<TomlValue | undefined> = { text, read }
  if (byDefault !== undefined) question.byDefault = byDefault
  const value = await questions.ask(question)
  if (value !== undefined) given[key] = value
}

async function askUser(questions: Questions): Promise<FirstUser> {
  const address = await questions.ask({
    text: 'E-mail address of the first user, who operates the server',
    read: parseUserAddress,
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

/** @throws AppError for a password that is too short or too long */
function readPassword(answer: string): string | undefined {
  if (answer === '') return undefined
  checkPassword(answer)
  return answer
}

/** Only a full name is worth a proposal. */
function defaultHost(): string | undefined {
  const name = hostname()
  return name.includes('.') ? name : undefined
}
