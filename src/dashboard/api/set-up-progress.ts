/** Where the set-up of the server stands. It can be left, and goes on at the same step. */
import { keep, readKept } from '../logic/storage.ts'

export const STEPS = ['account', 'server', 'checks', 'project'] as const
export type SetUpStep = (typeof STEPS)[number]

const STORED = 'pillarbox.setup'

/** The step of the address, or else the one that was left; the second one without either. */
export function stepOf(asked: string | undefined): SetUpStep {
  const later = STEPS.filter((one) => one !== 'account')
  return later.find((one) => one === asked) ?? later.find((one) => one === stored()) ?? 'server'
}

export function rememberStep(step: SetUpStep): void {
  keep(STORED, step)
}

export function endSetUp(): void {
  keep(STORED, undefined)
}

/** Whether the set-up was begun in this browser, and neither finished nor skipped. */
export function isSetUpOpen(): boolean {
  return stored() !== null
}

function stored(): string | null {
  return readKept(STORED)
}
