/** The commands that are next after the service was set up, in their order. */
import { existsSync, lstatSync } from 'node:fs'
import path from 'node:path'
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { quoteWord } from '../../config/shell-word.ts'
import type { InstallStep } from './install.ts'
import { ENABLED_LINK, PROGRAM_PLACE, UNIT_FILE } from './unit.ts'

type Installed = {
  /** `/`, or the root of another system. */
  root: string
  /** The executable and its first arguments, as in the unit. */
  program: readonly string[]
  /** The configuration file of the service, as the unit's system sees it. */
  configFile: string
  /** Whether the service runs an executable that was replaced since. */
  runsOld: boolean
}

/**
 * A service without a configuration cannot start: `init` comes first. After an upgrade the old program runs on
 * until the service starts again.
 */
export function listNextSteps(
  steps: readonly InstallStep[],
  { root, program, configFile, runsOld }: Installed,
): string[] {
  const isUnitChanged = steps.some((step) => step.path === UNIT_FILE && step.done === 'changed')
  const isProgramChanged = steps.some(
    (step) => step.path === PROGRAM_PLACE && step.done === 'changed',
  )
  const start = 'systemctl enable --now pillarbox'
  if (!isConfigured(root, configFile)) {
    return [
      `${callOf(program)} --config ${quoteWord(configFile)} init`,
      'systemctl daemon-reload',
      start,
    ]
  }
  if (!isUnitChanged && !isProgramChanged && !runsOld) return ['systemctl daemon-reload', start]
  // Who has not restarted the service since an earlier run may not have made systemd read its unit either.
  const reload = isUnitChanged || !isProgramChanged ? ['systemctl daemon-reload'] : []
  const enable = isEnabled(root) ? [] : ['systemctl enable pillarbox']
  return [...reload, ...enable, 'systemctl restart pillarbox']
}

/** A file of `--config` may be one of this system; the usual one is below the root. */
function isConfigured(root: string, configFile: string): boolean {
  const isOfThisSystem = configFile !== SYSTEM_FILE && existsSync(configFile)
  return isOfThisSystem || existsSync(path.join(root, configFile))
}

/** Whether the system starts the service when it boots. The link leads to a place below the root. */
function isEnabled(root: string): boolean {
  return lstatSync(path.join(root, ENABLED_LINK), { throwIfNoEntry: false }) !== undefined
}

function callOf(program: readonly string[]): string {
  return program.map((word) => (word === PROGRAM_PLACE ? 'pillarbox' : quoteWord(word))).join(' ')
}
