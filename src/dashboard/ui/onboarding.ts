/**
 * Whether a project shows its first steps. They show by themselves until mail was sent, or until they are put away. The
 * browser keeps both, so that the overview of a project that has sent mail asks for its figures at once.
 */
import { signal } from '@preact/signals'
import { keep, readKept } from '../logic/storage.ts'

/** The project whose first steps somebody asked for. */
export const wantedSteps = signal<string | undefined>(undefined)

const ended = signal(0)

const keyOf = (projectId: string) => `pillarbox.first-steps.${projectId}`

export function areStepsOver(projectId: string): boolean {
  // Read, so that what shows the steps follows the change.
  void ended.value
  return readKept(keyOf(projectId)) !== null
}

/** Mail was sent before anybody saw the steps. */
export function skipSteps(projectId: string): void {
  keep(keyOf(projectId), 'sent')
}

export function putStepsAway(projectId: string): void {
  keep(keyOf(projectId), 'away')
  wantedSteps.value = undefined
  ended.value += 1
}

/** A project without any mail, as after a reset, has its steps again. */
export function forgetSteps(projectId: string): void {
  keep(keyOf(projectId), undefined)
}

/** Shows the first steps on the overview of the project again, also after mail was sent. */
export function showOnboarding(projectId: string): void {
  forgetSteps(projectId)
  wantedSteps.value = projectId
}
