import { t } from '../../text/text.ts'
import { Page } from '../../ui/page.tsx'

export default function Activity() {
  return <Page title={t('nav.activity')} />
}
