/** Puts the stored values of secret headers in the place of masks that a client sends back. */
import { unmaskConfig } from '../graph/secret-headers.ts'
import { requireFewMarkers } from '../graph/step-templates.ts'
import type { StepRow } from './step-rows.ts'
import type { Viewer } from './view.ts'

type GivenSecrets = Viewer & {
  /** The stored step; undefined for a new step. */
  stored: Pick<StepRow, 'config'> | undefined
  /** The field of the config. */
  path: string
}

/** @throws AppError VALIDATION_ERROR for a mask without a stored value */
export function restoreSecrets(
  { type, config }: Pick<StepRow, 'type' | 'config'>,
  { stored, path, seesSecrets = false }: GivenSecrets,
): StepRow['config'] {
  if (type !== 'WEBHOOK') return config
  const restored = unmaskConfig({ config, stored: stored?.config, path, seesSecrets })
  if (restored !== config) requireFewMarkers({ type, config: restored }, path)
  return restored
}
