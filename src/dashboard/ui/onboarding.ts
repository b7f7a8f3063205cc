/** Whether a project shows its first steps. They show by themselves until mail was sent, or until they are put away. */
import { signal } from '@preact/signals'
import { keep, readKept } from '../logic/storage.ts'

/** The project whose first steps somebody asked for. */
export const wantedSteps = signal<string | undefined>(undefined)

const putAway = signal(0)

const keyOf = (projectId: string) => `pillarbox.first-steps.${projectId}`

export function areStepsPutAway(projectId: string): boolean {
  // Read, so that what shows the steps follows the change.
  void putAway.value
  return readKept(keyOf(projectId)) === 'away'
}

export function putStepsAway(projectId: string): void {
  keep(keyOf(projectId), 'away')
  wantedSteps.value = undefined
  putAway.value += 1
}

/** Shows the first steps on the overview of the project again, also after mail was sent. */
export function showOnboarding(projectId: string): void {
  keep(keyOf(projectId), undefined)
  wantedSteps.value = projectId
}
