/** Leads to another screen in place of this one, so that going back does not lead here again. */

import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'

export function Leave({ to }: { to: string }) {
  const { route } = useLocation()
  useEffect(() => route(to, true), [to])
  return null
}
