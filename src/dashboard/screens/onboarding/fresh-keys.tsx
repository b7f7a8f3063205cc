/** Keys that were just made. The server never shows the secret one again, so it stays here until it was kept. */
import { useProjectId } from '../../api/queries.ts'
import { freshKeys } from '../../ui/fresh-keys.ts'
import { KeyBox } from './key-box.tsx'

export function FreshKeys() {
  const id = useProjectId()
  const keys = freshKeys.value
  if (keys === undefined || keys.projectId !== id) return null
  return (
    <div class="note good step">
      <KeyBox keys={keys} onKept={() => (freshKeys.value = undefined)} />
    </div>
  )
}
