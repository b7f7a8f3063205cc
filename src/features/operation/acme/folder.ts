/**
 * `<data_dir>/acme`, 0700: the key of each account, the certificate with its key in one file, and the
 * state of failed orders. Every file is replaced in one step, so a kill leaves a usable pair.
 *
 * The certificate's file begins with lines that say which order it comes from; programs that read PEM
 * skip them (RFC 7468 section 2).
 */
import { X509Certificate } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from '../../../base/errors.ts'
import { readPair } from '../../../config/certificates/pair.ts'
import { replaceFile, UNFINISHED } from '../../../config/replace-file.ts'
import type { IssuedCertificate } from './order.ts'

type OrderOrigin = { directoryUrl: string; domains: readonly string[] }

export type CurrentCertificate = OrderOrigin & { certificate: X509Certificate }

/**
 * The state of orders: the result of the last one, and how many have failed since the last
 * certificate.
 */
export type OrderState = {
  /** The digest of the settings of the last order. An order with other settings does not wait. */
  settings: string
  failures: number
  /** The earliest time of the next order (epoch ms). */
  nextAttemptAt: number
  /** Why the last order failed, for operators; null when it succeeded. */
  fault: string | null
}

const CERTIFICATE = 'certificate.pem'
const STATE = 'state.json'

/** Makes the folder, and removes the unfinished files of a crash. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = await readdir(folder)
  const left = names.filter((name) => name.endsWith(UNFINISHED))
  await Promise.all(left.map((name) => rm(path.join(folder, name), { force: true })))
}

/** Reads the present certificate; undefined if there is none that can be used. */
export async function findCurrent(folder: string): Promise<CurrentCertificate | undefined> {
  const file = path.join(folder, CERTIFICATE)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const { cert } = readPair({ certFile: file, keyFile: file, isOrdered: true })
    const [, directoryUrl = ''] = /^Directory: (.*)$/m.exec(text) ?? []
    const [, domains = ''] = /^Domains: (.*)$/m.exec(text) ?? []
    return { directoryUrl, domains: domains.split(' '), certificate: new X509Certificate(cert) }
  } catch {
    // A broken certificate counts as missing, so a new one is ordered.
    return undefined
  }
}

export async function writeCertificate(
  folder: string,
  { directoryUrl, domains }: OrderOrigin,
  { key, chain }: IssuedCertificate,
): Promise<void> {
  const head = `Directory: ${directoryUrl}\nDomains: ${domains.join(' ')}\n`
  await replaceFile(path.join(folder, CERTIFICATE), `${head}${key}${chain}`)
}

/** Reads the state of orders; undefined if there is no file of it, or if the file is damaged. */
export async function findState(folder: string): Promise<OrderState | undefined> {
  try {
    const state = JSON.parse(await readFile(path.join(folder, STATE), 'utf8'))
    const { settings, failures, nextAttemptAt, fault } = Object(state)
    if (!Number.isFinite(failures) || !Number.isFinite(nextAttemptAt)) return undefined
    const shown = typeof fault === 'string' ? fault : null
    return { settings: String(settings), failures, nextAttemptAt, fault: shown }
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export async function writeState(folder: string, state: OrderState | undefined): Promise<void> {
  const file = path.join(folder, STATE)
  if (state === undefined) await rm(file, { force: true })
  else await replaceFile(file, `${JSON.stringify(state, null, 2)}\n`)
}
