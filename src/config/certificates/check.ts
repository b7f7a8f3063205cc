/** Checks before the start that certificates and keys can be read and belong together. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { describeError } from '../../base/errors.ts'
import type { Config } from '../config.ts'
import { describeUnreadable, isRefused, runAs, statOf, userArgument } from '../file-access.ts'
import type { ConfigProblem } from '../problems.ts'
import type { SettingKey, SettingValues } from '../settings.ts'
import { quoteWord } from '../shell-word.ts'
import { describePairFault } from './pair.ts'

const SECTIONS = ['http', 'inbound', 'submission'] as const

type Files = Pick<Config, 'file' | 'dataDir'>

/**
 * Returns the problems of the files with certificates, `acme.ca_file` included. `file`: the configuration
 * file.
 */
export function checkCertificates(values: SettingValues, file: string | null): ConfigProblem[] {
  const files = { file, dataDir: values.data_dir }
  return [...checkDirectoryRoots(values, files), ...checkListeners(values, files)]
}

function checkDirectoryRoots(values: SettingValues, files: Files): ConfigProblem[] {
  const [key, file] = ['acme.ca_file', values['acme.ca_file']] as const
  if (file === null || values['acme.email'] === null) return []
  const problems: ConfigProblem[] = []
  const ca = readPem({ key, file }, files, problems)
  if (ca === undefined || ca.includes('-----BEGIN CERTIFICATE-----')) return problems
  return [{ key, found: 'no certificate', expected: 'certificates in PEM', where: null }]
}

function checkListeners(values: SettingValues, files: Files): ConfigProblem[] {
  return SECTIONS.flatMap((section) => {
    const [certKey, keyKey] = [`${section}.tls_cert`, `${section}.tls_key`] as const
    const [certFile, keyFile] = [values[certKey], values[keyKey]]
    if (certFile === null || keyFile === null) return []
    if (section === 'submission' && certFile === values['inbound.tls_cert']) return []
    const problems: ConfigProblem[] = []
    const cert = readPem({ key: certKey, file: certFile }, files, problems)
    const key = readPem({ key: keyKey, file: keyFile }, files, problems)
    if (cert !== undefined && key !== undefined) problems.push(...checkPair(certKey, { cert, key }))
    return problems
  })
}

type Pem = { key: SettingKey; file: string }

function readPem({ key, file }: Pem, files: Files, problems: ConfigProblem[]): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    const common = { key, expected: 'a readable PEM file', where: null }
    problems.push(
      isRefused(error)
        ? { ...common, ...describeRefused(file, files) }
        : { ...common, found: describeError(error) },
    )
    return undefined
  }
}

/**
 * Says what to do about an unreadable file: run the command as the owner of the server's files or, if this
 * user is the owner, give this user the file or a copy of it.
 */
export function describeRefused(file: string, files: Files): { found: string; remedy: string } {
  const { found, isEntered } = describeUnreadable(file)
  const server = statOf(files.dataDir) ?? (files.file === null ? undefined : statOf(files.file))
  const uid = process.geteuid?.() ?? 0
  if (server !== undefined && server.uid !== uid) return { found, remedy: runAs(server.uid) }
  const remedy = isEntered
    ? `run chown ${userArgument(uid)} ${quoteWord(file)}`
    : `copy ${file} to a folder that this user can enter, and make this user the copy's owner`
  return { found, remedy }
}

function checkPair(key: SettingKey, pair: { cert: Buffer; key: Buffer }): ConfigProblem[] {
  try {
    createSecureContext(pair)
    return []
  } catch (error) {
    const expected = 'a PEM certificate chain and the private key that belongs to it'
    return [{ key, found: describePairFault(error), expected, where: null }]
  }
}
