/** The reasons for which executions were cancelled, in the words of the API. */
export const EXIT_REASONS = {
  cancelled: 'cancelled by user',
  allCancelled: 'all executions cancelled by user',
  projectDisabled: 'Project disabled',
  stepRemoved: 'step removed',
  tooManyStarts: 'too many starts',
  chainTooDeep: 'chain too deep',
  workflowDisabled: 'workflow disabled',
} as const
