/** What a backup holds of the configuration, and what the configuration refers to outside of it. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { AppError, hasCode } from '../../../../base/errors.ts'
import type { Config } from '../../../../config/config.ts'
import { readToml } from '../../../../config/layers/file.ts'
import type { Loaded } from '../../../../config/load.ts'
import { type SettingKey, settingKeys, settingOf } from '../../../../config/settings.ts'
import { formatNewFile } from '../../../../config/values/toml-text.ts'
import type { OutsideFile, Secrets } from '../archive/manifest.ts'

/** Folders that the server fills itself. */
const OWN_FOLDERS: readonly SettingKey[] = ['data_dir', 'backup.dir']

/** The configuration file; undefined without one. Without its secrets it has the same values, not its comments. */
export async function readConfigText(
  { file }: Pick<Config, 'file'>,
  { withoutSecret }: { withoutSecret: boolean },
): Promise<Buffer | undefined> {
  if (file === null) return undefined
  const text = await readFile(file, 'utf8')
  return Buffer.from(withoutSecret ? withoutSecrets(file, text) : text)
}

function withoutSecrets(file: string, text: string): string {
  const { given } = readToml({ file, text })
  const entriesOf = <T>(read: (key: SettingKey) => T | undefined) =>
    Object.fromEntries(
      settingKeys.flatMap((key) => {
        const value = read(key)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  const open = entriesOf((key) => {
    const { kind } = settingOf(key)
    const value = given.has(key) && !kind.isSecret ? kind.read(given.get(key)?.value) : undefined
    return value === undefined ? undefined : kind.show(value)
  })
  const files = entriesOf((key) => {
    const path = given.get(`${key}_file`)?.value
    return settingOf(key).kind.isSecret && typeof path === 'string' ? path : undefined
  })
  return formatNewFile(open, files)
}

/**
 * The secrets in effect. Unlike a start, this makes no new secret.
 * @throws AppError CONFLICT without a secret
 */
export async function readSecrets(
  config: Pick<Config, 'secret' | 'secretPrevious' | 'dataDir'>,
): Promise<Secrets> {
  const secret = config.secret ?? (await readStoredSecret(config.dataDir))
  return { secret, secretPrevious: config.secretPrevious }
}

async function readStoredSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'secret')
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new AppError('CONFLICT', `There is no secret: ${file} is missing.`, {
      suggestion: 'Put the secret back, or make a backup with --without-secret.',
    })
  }
}

/** Files and environment variables that a restored server needs besides the backup. */
export function listOutside({ config, values, origins }: Loaded): OutsideFile[] {
  return settingKeys.flatMap((key) => {
    const [value, origin] = [values[key], origins.get(key)]
    const own = settingOf(key).kind.isPath && !OWN_FOLDERS.includes(key) && value !== null
    const place = own ? [{ key, place: String(value) }] : []
    if (origin === undefined || origin === config.file) return place
    return path.isAbsolute(origin)
      ? [...place, { key: `${key}_file`, place: origin }]
      : [...place, { key, place: `environment variable ${origin}` }]
  })
}
