import { t } from '../../text/text.ts'
import { Page } from '../../ui/page.tsx'

export default function Overview() {
  return <Page title={t('nav.overview')} />
}
