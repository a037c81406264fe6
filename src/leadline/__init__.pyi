from leadline.api import Records as Records
from leadline.api import Run as Run
from leadline.api import correlate as correlate
from leadline.api import measure as measure
from leadline.api import open_run as open_run
from leadline.api import sample as sample

__version__: str
