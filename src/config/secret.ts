/**
 * The data folder, and the secret that keys are derived from. Without a configured secret, one is
 * generated and stored in `<data_dir>/secret`. The file is complete and durable before its name
 * appears; of two processes that start at once, the second uses the secret of the first.
 */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { describeError, hasCode } from '../base/errors.ts'
import type { Config } from './config.ts'
import { giveTo, isRefused } from './file-access.ts'
import { ConfigError, describeHidden } from './problems.ts'
import { writeDurably } from './replace-file.ts'
import { syncFolder } from './sync-folder.ts'
import { longSecret } from './values/kinds.ts'

const SECRET_BYTES = 32

/** Creates `data_dir` with mode 700 if it does not exist. @throws ConfigError */
export async function prepareDataDir({ dataDir }: Pick<Config, 'dataDir'>): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusable('data_dir', error, 'a folder that exists or can be made')
  }
}

/** Returns the configured secret, else the stored one, else a new one. @throws ConfigError */
export async function loadSecret(config: Pick<Config, 'secret' | 'dataDir'>): Promise<string> {
  if (config.secret !== null) return config.secret
  const file = path.join(config.dataDir, 'secret')
  try {
    return (await readSecret(file)) ?? (await makeSecret(file))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw unusable('secret', error, expectedSecret(error, config.dataDir))
  }
}

/** Reads the stored secret; undefined when its file does not exist. */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const secret = text.replace(/\r?\n$/, '')
  if (longSecret.read(secret) !== undefined) return secret
  const found = describeHidden(secret)
  throw new ConfigError([{ key: 'secret', found, expected: longSecret.expected, where: file }])
}

async function makeSecret(file: string): Promise<string> {
  const fresh = `${file}.${randomBytes(8).toString('hex')}`
  await writeDurably(fresh, `${randomBytes(SECRET_BYTES).toString('hex')}\n`)
  try {
    await link(fresh, file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(fresh)
  }
  await syncFolder(path.dirname(file))
  const secret = await readSecret(file)
  if (secret === undefined) throw new Error(`${file} vanished`)
  return secret
}

/** Permission errors usually mean that the files belong to another user, such as root. */
function expectedSecret(error: unknown, dataDir: string): string {
  if (!isRefused(error)) return 'a data_dir to store it in, or a secret of your own'
  const uid = process.geteuid?.()
  const remedy = uid === undefined ? '' : `: as root, run "${giveTo(uid, dataDir)}"`
  return `a data_dir whose files belong to the user who runs Pillarbox${remedy}`
}

function unusable(key: string, error: unknown, expected: string): ConfigError {
  const problem = { key, found: describeError(error), expected, where: null }
  return new ConfigError([problem], { cause: error })
}
