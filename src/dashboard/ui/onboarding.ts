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

/** `sent`: mail was sent when the browser last asked, which a reset changes. */
export function stepsOf(projectId: string): 'away' | 'sent' | undefined {
  // Read, so that what shows the steps follows the change.
  void ended.value
  return (readKept(keyOf(projectId)) as 'away' | 'sent' | null) ?? undefined
}

export function keepSent(projectId: string, hasSent: boolean): void {
  keep(keyOf(projectId), hasSent ? 'sent' : undefined)
}

export function putStepsAway(projectId: string): void {
  keep(keyOf(projectId), 'away')
  wantedSteps.value = undefined
  ended.value += 1
}

/** Shows the first steps on the overview of the project again, also after mail was sent. */
export function showOnboarding(projectId: string): void {
  keep(keyOf(projectId), undefined)
  wantedSteps.value = projectId
}
