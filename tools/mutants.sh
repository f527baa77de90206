#!/bin/sh
# Mutation testing, now and then and by hand: which small faults in the pure modules do the unit tests not find?
# CONTRIBUTING.md, "Mutation testing", has the last answer. It works on a copy, in build/mutants.
#
#   tools/mutants.sh                                    all modules; three hours on one core
#   tools/mutants.sh domain/drift.py store/chain.py     some of them
#   tools/mutants.sh again 'antidrift.domain.drift.*'   these mutants once more, with the tests as they are now
#   tools/mutants.sh show NAME                          one mutant, as a diff
#
# MUTANTS=/tmp/elsewhere puts the copy there; two runs at once need two.
set -eu
cd "$(dirname "$0")/.."

version=3.8.1
modules='
domain/*.py
bus/reports.py
config.py
providers/tasks.py
roles/answers.py roles/spec.py roles/untrusted.py
sensors/x11_text.py
store/audit.py store/chain.py store/snapshot.py
wire.py
'
# Beside tests/unit: where a module meets files, a program or its examples, these are what tests it.
tests='
contract/test_schema.py
integration/test_providers.py integration/test_store.py integration/test_store_audit.py integration/test_store_failures.py
'

here=$(pwd -P)
copy=${MUTANTS:-build/mutants}
mkdir -p "$copy"
copy=$(cd "$copy" && pwd -P)

# Beside .venv, not in it: nothing else needs it.
tool=$copy/tool
[ -d "$tool/mutmut-$version.dist-info" ] || {
    rm -rf "$tool"
    .venv/bin/python -m pip install --quiet --target "$tool" "mutmut==$version"
}

mutmut() {
    (cd "$copy/tree" && PYTHONPATH="$tool" PYTHONDONTWRITEBYTECODE=1 nice -n 19 "$here/.venv/bin/python" -m mutmut "$@")
}

# mutmut names a module by its path, so the package lies at the root of the copy.
bring_over() {
    mkdir -p "$copy/tree"
    rm -rf "$copy/tree/tests" "$copy/tree/antidrift" "$copy/tree/mutants/tests"
    cp -Rp service/antidrift tests docs dbus "$copy/tree"
    # The same examples each time; a slow machine kills no mutant; and nobody needs a smallest example of a dead one.
    cat >"$copy/tree/tests/conftest.py" <<'END'
from hypothesis import Phase, settings

settings.register_profile("mutants", derandomize=True, deadline=None, database=None, phases=[Phase.explicit, Phase.generate])
settings.load_profile("mutants")
END
    {
        cat pyproject.toml
        cat <<'END'

[tool.mutmut]
source_paths = ["antidrift"]
also_copy = ["docs", "dbus"]
pytest_add_cli_args = ["-p", "no:cacheprovider"]
timeout_multiplier = 5.0
timeout_constant = 10.0
END
        echo 'pytest_add_cli_args_test_selection = ["tests/unit",'
        # shellcheck disable=SC2086 # one line for each
        printf '    "tests/%s",\n' $tests
        echo ']'
        echo 'only_mutate = ['
        sed 's|.*|    "antidrift/&",|' "$copy/modules"
        echo ']'
    } >"$copy/tree/pyproject.toml"
}

# The killed and all of each module, and who is left. mutmut keeps pytest's exit code for each: 0 is a mutant that lives,
# 33 one whose function no test calls; a signal ends one that never comes to an end.
results() {
    (cd "$copy/tree/mutants" && "$here/.venv/bin/python" - <<'END'
import json
from pathlib import Path

left = []
for meta in sorted(Path("antidrift").rglob("*.meta")):
    codes = json.loads(meta.read_text())["exit_code_by_key"]
    alive = [name for name, code in codes.items() if code in (0, 33, None)]
    left += alive
    print(f"{str(meta).removesuffix('.meta'):40} {len(codes) - len(alive):5} of {len(codes):5}")
print(*left, sep="\n")
END
    )
}

case ${1:-} in
    show) shift; mutmut show "$@"; exit ;;
    again) shift; bring_over; mutmut run --max-children 1 "$@" ;;
    *)
        rm -rf "$copy/tree"
        set -f # the patterns are mutmut's to expand
        # shellcheck disable=SC2086 # one argument for each module
        [ $# -gt 0 ] || set -- $modules
        printf '%s\n' "$@" >"$copy/modules"
        set +f
        bring_over
        mutmut run --max-children 1
        ;;
esac
results
